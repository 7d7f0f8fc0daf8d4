import { createHash } from 'node:crypto'
import { type Backstage, controlledBy, type Controller, ownedBy, startController, targetOf } from './controller.ts'
import { at, canonicalJson, isSameJson, type Stored, timeText, type Tree } from './object.ts'
import { type Condition, conditionsOf, withCondition } from './pods.ts'
import { countOf, sizeAnnotations, stepRollout, sum, wantedOf } from './rollout.ts'

const sets = 'apps/v1/replicasets'
const hashLabel = 'pod-template-hash'

const templateOf = (deployment: Stored): Tree => at(deployment, 'spec', 'template') as Tree

const hashOf = (template: Tree): string =>
  createHash('sha256').update(canonicalJson(template)).digest('hex').slice(0, 10)

const createSet = ({ server }: Backstage, deployment: Stored, replicas: number) => {
  const template = templateOf(deployment)
  const hash = hashOf(template)
  const labels = { ...(at(template, 'metadata', 'labels') as Tree), [hashLabel]: hash }
  const { name, namespace } = deployment.metadata
  const metadata = {
    name: `${name}-${hash}`,
    labels,
    annotations: sizeAnnotations(deployment),
    ...ownedBy(deployment),
  }
  const matchLabels = { ...(at(deployment, 'spec', 'selector', 'matchLabels') as Tree), [hashLabel]: hash }
  const podTemplate = { ...template, metadata: { ...(template['metadata'] as Tree), labels } }
  const spec = { replicas, selector: { matchLabels }, template: podTemplate }
  server.create(server.kind(sets), namespace, { metadata, spec })
}

const tell = ({ server, clock }: Backstage, deployment: Stored, current: Stored | undefined) => {
  const all = controlledBy(server, sets, deployment)
  const replicas = sum(all, (set) => countOf(set, 'replicas'))
  const ready = sum(all, (set) => countOf(set, 'readyReplicas'))
  const missing = Math.max(0, wantedOf(deployment) - ready)
  const updated = current ? countOf(current, 'replicas') : 0
  const counts = {
    observedGeneration: deployment.metadata.generation,
    ...(replicas > 0 && { replicas }),
    ...(updated > 0 && { updatedReplicas: updated }),
    ...(ready > 0 && { readyReplicas: ready, availableReplicas: ready }),
    ...(missing > 0 && { unavailableReplicas: missing }),
  }
  const isAvailable = missing <= wantedOf(deployment) / 4
  server.edit(targetOf(server, deployment, 'status'), (live) => {
    const conditions = conditionsAfter(live, all, { isAvailable, time: timeText(clock.date()) })
    return { ...live, status: { ...counts, conditions } }
  })
}

/** Plays the Deployment controller: a ReplicaSet for each template, and rolling updates from one to the next. */
export const startDeployments = (backstage: Backstage): Controller => {
  const { server } = backstage
  const sync = (_key: string, deployment: Stored | undefined) => {
    if (!deployment) return undefined
    const isCurrent = (set: Stored) => set.metadata.labels?.[hashLabel] === hashOf(templateOf(deployment))
    const all = controlledBy(server, sets, deployment)
    const current = all.find(isCurrent)
    const old = all.filter((set) => !isCurrent(set) && wantedOf(set) > 0)
    if (deployment.metadata.deletionTimestamp === undefined) {
      if (!current) createSet(backstage, deployment, old.length === 0 ? wantedOf(deployment) : 0)
      else stepRollout(backstage, { deployment, current, old })
    }
    tell(backstage, deployment, current)
    return undefined
  }
  return startController(backstage, { resource: 'apps/v1/deployments', dependents: [sets], sync })
}

const conditionsAfter = (
  deployment: Stored,
  all: readonly Stored[],
  { isAvailable, time }: { isAvailable: boolean; time: string },
): readonly Condition[] => {
  const failure = all.flatMap(conditionsOf).find(({ type }) => type === 'ReplicaFailure')
  const reason = isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable'
  const available = withCondition(
    deployment,
    { type: 'Available', status: isAvailable ? 'True' : 'False', reason },
    time,
  )
  const others = available.filter(({ type }) => type !== 'ReplicaFailure')
  const after = failure ? [...others, failure] : others
  return isSameJson(after, conditionsOf(deployment)) ? conditionsOf(deployment) : after
}

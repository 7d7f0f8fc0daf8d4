import { createHash } from 'node:crypto'
import { type ControllerDeps, controlledBy, type Controller, ownedBy, startController, targetOf } from './controller.ts'
import { at, canonicalJson, isSameJson, type Stored, timeText, type JsonObject } from './object.ts'
import { type Condition, conditionsOf, withCondition } from './pods.ts'
import { countOf, sizeAnnotations, stepRollout, sum, wantedOf } from './rollout.ts'

const sets = 'apps/v1/replicasets'
/** Interval at which a rollout's deadline is checked. */
const lookAgainMs = 5000
const hashLabel = 'pod-template-hash'

const templateOf = (deployment: Stored): JsonObject => at(deployment, 'spec', 'template') as JsonObject

/** Cache by identity: templates are compared at every reconcile and stay the same object until they are written. */
const hashes = new WeakMap<JsonObject, string>()

const hashOf = (template: JsonObject): string => {
  const hash = hashes.get(template) ?? createHash('sha256').update(canonicalJson(template)).digest('hex').slice(0, 10)
  hashes.set(template, hash)
  return hash
}

const createSet = ({ server }: ControllerDeps, deployment: Stored, replicas: number) => {
  const template = templateOf(deployment)
  const hash = hashOf(template)
  const labels = { ...(at(template, 'metadata', 'labels') as JsonObject), [hashLabel]: hash }
  const { name, namespace } = deployment.metadata
  const metadata = {
    name: `${name}-${hash}`,
    labels,
    annotations: sizeAnnotations(deployment),
    ...ownedBy(deployment),
  }
  const matchLabels = { ...(at(deployment, 'spec', 'selector', 'matchLabels') as JsonObject), [hashLabel]: hash }
  const podTemplate = { ...template, metadata: { ...(template['metadata'] as JsonObject), labels } }
  const spec = { replicas, selector: { matchLabels }, template: podTemplate }
  server.create(server.kind(sets), namespace, { metadata, spec })
}

/** Tracks the progress of Deployments, and returns their condition Progressing. */
const createProgress = ({ clock }: ControllerDeps) => {
  const last = new Map<
    string,
    { readonly counts: readonly number[]; readonly atMs: number; readonly isDone: boolean }
  >()
  return (deployment: Stored, counts: { updated: number; ready: number; old: number }): Condition => {
    const { uid } = deployment.metadata
    const desired = wantedOf(deployment)
    const isDone = counts.updated === desired && counts.old === 0 && counts.ready >= desired
    const before = last.get(uid)
    const now = [counts.updated, counts.ready, -counts.old]
    const hasMoved = !before || now.some((count, index) => count > (before.counts[index] ?? 0))
    // An unready pod does not restart a completed rollout.
    const stays = before?.isDone && counts.old === 0
    const atMs = hasMoved ? clock.nowMs() : before.atMs
    last.set(uid, { counts: now, atMs, isDone: isDone || stays === true })
    if (isDone || stays) return { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' }
    const deadlineMs = Number(at(deployment, 'spec', 'progressDeadlineSeconds') ?? 600) * 1000
    return clock.nowMs() - atMs >= deadlineMs
      ? { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }
      : { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated' }
  }
}

const updateStatus = (
  { server, clock }: ControllerDeps,
  deployment: Stored,
  current: Stored | undefined,
  progress: ReturnType<typeof createProgress>,
) => {
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
    const progressing = progress(deployment, { updated, ready, old: replicas - updated })
    const conditions = conditionsAfter(live, all, { isAvailable, progressing, time: timeText(clock.date()) })
    return { ...live, status: { ...counts, conditions } }
  })
}

/** Simulates the Deployment controller: a ReplicaSet for each template, and rolling updates from one to the next. */
export const startDeployments = (deps: ControllerDeps): Controller => {
  const { server } = deps
  const progress = createProgress(deps)
  const sync = (_key: string, deployment: Stored | undefined) => {
    if (!deployment) return undefined
    const isCurrent = (set: Stored) => set.metadata.labels?.[hashLabel] === hashOf(templateOf(deployment))
    const all = controlledBy(server, sets, deployment)
    const current = all.find(isCurrent)
    const old = all.filter((set) => !isCurrent(set) && wantedOf(set) > 0)
    if (deployment.metadata.deletionTimestamp === undefined) {
      if (!current) createSet(deps, deployment, old.length === 0 ? wantedOf(deployment) : 0)
      else stepRollout(deps, { deployment, current, old })
    }
    updateStatus(deps, deployment, current, progress)
    return old.length > 0 ? lookAgainMs : undefined
  }
  return startController(deps, { resource: 'apps/v1/deployments', dependents: [sets], sync })
}

const conditionsAfter = (
  deployment: Stored,
  all: readonly Stored[],
  { isAvailable, progressing, time }: { isAvailable: boolean; progressing: Condition; time: string },
): readonly Condition[] => {
  const failure = all.flatMap(conditionsOf).find(({ type }) => type === 'ReplicaFailure')
  const reason = isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable'
  const available = withCondition(
    deployment,
    { type: 'Available', status: isAvailable ? 'True' : 'False', reason },
    time,
  )
  const progressed = withCondition({ ...deployment, status: { conditions: available } }, progressing, time)
  const others = progressed.filter(({ type }) => type !== 'ReplicaFailure')
  const after = failure ? [...others, failure] : others
  return isSameJson(after, conditionsOf(deployment)) ? conditionsOf(deployment) : after
}

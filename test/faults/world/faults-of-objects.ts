import { browserPools } from '#shared/kube/browser-pool.ts'
import { captureLabel, deletionCostAnnotation, workersName } from '#shared/kube/names.ts'
import { browserPoolKind } from '#test/helpers/model-api/browser-pool.ts'
import { at, isPlainObject, type Stored, type JsonObject } from '#test/helpers/model-api/object.ts'
import { keyIn } from '#test/helpers/model-api/store.ts'
import { applyByHand, edit, namespace, pickOf, podsOf, type Random, seconds, targetOf, tryOut } from './by-hand.ts'
import type { Fault } from './run.ts'
import { createPool, type World } from './world.ts'

/** A fault that hits a random pod of a pool or a Job with a probability of 25 % each second. */
const ofPods = (name: string, befall: (world: World, pod: Stored, random: Random) => void): Fault => ({
  name,
  lastsMs: seconds(30, 50),
  begin: () => {},
  tick: (world, random) => {
    const pod = random() < 0.25 ? pickOf(random, podsOf(world)) : undefined
    if (pod) befall(world, pod, random)
  },
})

const keyOf = ({ metadata: { name } }: Stored) => keyIn(namespace, name)

/** Users delete pods, some of them without a grace period. */
export const deletedPods = ofPods('pods are deleted by hand', (world, { metadata: { name } }, random) =>
  tryOut(world, () =>
    world.model.server.remove(targetOf(world, 'v1/pods', name), random() < 0.3 ? { graceSeconds: 0 } : {}),
  ),
)

/** The node evicts pods because it lacks memory. */
export const evictedPods = ofPods('pods are evicted', ({ model }, pod) => model.kubelet.evict(keyOf(pod)))

/** The node of a pod is partitioned from the API server; its worker keeps serving. */
export const unknownPods = ofPods('the phase of pods is unknown', (world, pod, random) => {
  const { kubelet } = world.model
  kubelet.setLost(keyOf(pod), true)
  const conditions = (at(pod, 'status', 'conditions') as { type: string }[]).map((each) =>
    each.type === 'Ready' ? { ...each, status: 'Unknown' } : each,
  )
  edit(world, 'v1/pods', `${pod.metadata.name}/status`, { status: { phase: 'Unknown', conditions } })
  world.clock.after(20_000 + random() * 20_000, () => kubelet.setLost(keyOf(pod), false))
})

/** A ResourceQuota prevents further pods or Jobs. */
export const quota: Fault = {
  name: 'a quota is reached',
  lastsMs: seconds(40, 80),
  begin: (world, random) => {
    const { server } = world.model
    const count = (resource: string) => server.store.all(resource).length
    const hard =
      random() < 0.5
        ? { pods: String(podsOf(world).length + Math.floor(random() * 2)) }
        : { 'count/jobs.batch': String(count('batch/v1/jobs') + Math.floor(random() * 2)) }
    server.create(server.kind('v1/resourcequotas'), namespace, { metadata: { name: 'small' }, spec: { hard } })
  },
  end: (world) => tryOut(world, () => world.model.server.remove(targetOf(world, 'v1/resourcequotas', 'small'))),
}

const poolResource = `${browserPools.apiVersion}/${browserPools.plural}`
const poolNames = ['standard', 'proxied']

type SpecOf = (spec: unknown, pool: string) => unknown

/** Serves all pools under a new definition, and ends the watches, as the real server does. */
const redefine = (world: World, specOf: SpecOf) => {
  const { model, replicas } = world
  const fill = (pool: Stored) => ({ ...pool, spec: specOf(pool['spec'], pool.metadata.name) })
  const kind = { ...browserPoolKind, fill, check: () => {} }
  model.server.setKind(poolResource, kind)
  for (const name of poolNames) tryOut(world, () => model.server.edit(targetOf(world, poolResource, name), kind.fill))
  for (const { client } of replicas) client.reset()
}

const fillUsually = (spec: unknown) => {
  const metadata = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' }
  return at(browserPoolKind.applyDefaults?.({ apiVersion: '', kind: '', metadata, spec }), 'spec')
}

/** The definition gains a field, loses a field, or is deleted with its objects. */
export const createCrdChanges = (): Fault => {
  let isDeleted = false
  // Fields that a definition does not serve stay in storage.
  const kept = new Map<string, unknown>()
  return {
    name: 'the CustomResourceDefinition changes under a running controller',
    lastsMs: seconds(20, 60),
    begin: (world, random) => {
      const { server } = world.model
      isDeleted = random() < 0.5
      for (const name of poolNames) kept.set(name, server.get(targetOf(world, poolResource, name))['spec'])
      if (isDeleted) {
        for (const name of poolNames) server.remove(targetOf(world, poolResource, name))
        server.setKind(poolResource, undefined)
        for (const { client } of world.replicas) client.reset()
      } else if (random() < 0.5) redefine(world, (spec) => ({ ...(fillUsually(spec) as JsonObject), somethingNew: 1 }))
      else {
        const without = random() < 0.5 ? 'autoscaling' : 'jobs'
        redefine(world, (spec) => (isPlainObject(spec) ? { ...spec, [without]: undefined } : spec))
      }
    },
    end: (world) => {
      world.model.server.setKind(poolResource, browserPoolKind)
      if (isDeleted) for (const name of poolNames) createPool(world, name)
      else redefine(world, (_spec, name) => kept.get(name))
      world.model.server.setKind(poolResource, browserPoolKind)
    },
  }
}

const workers = workersName('standard')

/** Edits of the controller's objects by users. */
const edits: readonly ((world: World, random: Random) => void)[] = [
  (world, random) => edit(world, 'apps/v1/deployments', workers, { spec: { replicas: Math.floor(random() * 8) } }),
  (world, random) =>
    edit(world, 'apps/v1/deployments', `${workers}/scale`, { spec: { replicas: Math.floor(random() * 8) } }),
  (world) => {
    const spec = { template: { spec: { containers: [{ name: 'worker', image: 'another:2' }] } } }
    const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: workers }, spec }
    applyByHand(world, 'apps/v1/deployments', workers, body)
  },
  (world) => edit(world, 'apps/v1/deployments', workers, { metadata: { labels: null } }),
  (world) => edit(world, 'apps/v1/deployments', workers, { metadata: { annotations: { note: 'by hand' } } }),
  (world) => edit(world, 'policy/v1/poddisruptionbudgets', workers, { spec: { maxUnavailable: 0 } }),
  (world) => tryOut(world, () => world.model.server.remove(targetOf(world, 'policy/v1/poddisruptionbudgets', workers))),
  (world, random) => {
    const pod = pickOf(random, podsOf(world))
    const cost = random() < 0.5 ? null : String(Math.floor(random() * 100) - 200)
    if (pod)
      edit(world, 'v1/pods', pod.metadata.name, { metadata: { annotations: { [deletionCostAnnotation]: cost } } })
  },
  (world, random) => {
    const job = pickOf(random, world.model.server.store.all('batch/v1/jobs'))
    if (job) edit(world, 'batch/v1/jobs', job.metadata.name, { metadata: { labels: { [captureLabel]: null } } })
  },
]

/** Users edit fields that the controller owns. */
export const edited: Fault = {
  name: 'others edit the objects of the controller',
  lastsMs: seconds(40, 70),
  begin: () => {},
  tick: (world, random) => {
    if (random() < 0.25) pickOf(random, edits)?.(world, random)
  },
}

import { apply, setReplicas } from '#controller/kube/apply.ts'
import type { KubeApi, Patch } from '#shared/kube/client.ts'
import { fieldOwner, replicasOwner } from '#shared/kube/names.ts'
import {
  allOf,
  find,
  limit,
  listBy,
  make,
  refOf,
  outcome,
  fieldManagersOf,
  resources,
  conditionSummaries,
  type Scenario,
  type Environment,
} from './conformance.ts'
import { at, type Stored } from './object.ts'

const { deployments, replicaSets, pods } = resources
const sizePath = 'f:spec f:replicas'
const costAnnotation = 'controller.kubernetes.io/pod-deletion-cost'

/** Deployment spec whose pods request `cpu` cores each; a node has 32. */
const specOf = (name: string, { image = 'a', cpu = '1' } = {}) => ({
  selector: { matchLabels: { app: name } },
  template: {
    metadata: { labels: { app: name } },
    spec: {
      terminationGracePeriodSeconds: 5,
      containers: [{ name: 'one', image, resources: { requests: { cpu } }, env: [{ name: 'A', value: '1' }] }],
    },
  },
})

const create = (api: KubeApi, name: string, replicas: number, more = {}) => {
  const spec = { ...specOf(name, more), replicas }
  const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec }
  return make(api, deployments, object, replicasOwner)
}

const merge = (body: object, fieldManager = 'other-manager'): Patch => ({ kind: 'merge', body, fieldManager })
const replicasOf = (object: Stored | undefined) => at(object, 'spec', 'replicas')
const imageOf = (object: Stored) =>
  (at(object, 'spec', 'template', 'spec', 'containers') as { image: string }[])[0]?.image

/** Reads a Deployment once its controller has observed the current generation. */
const afterReconcile = async ({ api, until }: Environment, name: string): Promise<Stored> => {
  let found: Stored | undefined
  await until('observedGeneration is current', async () => {
    found = await find(api, refOf(deployments, name))
    return at(found, 'status', 'observedGeneration') === found?.metadata.generation
  })
  return found as Stored
}

/** Waits until `count` pods are ready, and returns their names, oldest first. */
const readyPods = async ({ api, until }: Environment, app: string, count: number): Promise<string[]> => {
  let names: string[] = []
  await until(`${count} ready pods of ${app}`, async () => {
    const all = await listBy(api, pods, `app=${app}`)
    const ready = all.filter((pod) => conditionSummaries(pod).some((each) => each.startsWith('Ready True')))
    names = ready
      .toSorted((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1))
      .map(({ metadata }) => metadata.name)
    return ready.length === count
  })
  return names
}

const fieldOwnership = async (environment: Environment) => {
  const { api } = environment
  const name = 'owned'
  const ref = refOf(deployments, name)
  const observations: unknown[] = []
  const record = async (what: string) => {
    const now = await afterReconcile(environment, name)
    observations.push([what, replicasOf(now), now.metadata.generation, fieldManagersOf(now, sizePath)])
    return now
  }
  await apply(api, ref, { spec: { ...specOf(name), replicas: 2 } }, { force: false })
  await record('created')
  const handOver = () =>
    outcome(apply(api, ref, { spec: { replicas: 2 } }, { fieldManager: replicasOwner, force: false }))
  observations.push(await handOver())
  observations.push(
    fieldManagersOf(await record('handed over'), 'f:spec f:template f:spec f:terminationGracePeriodSeconds'),
  )
  await apply(api, ref, { spec: specOf(name) })
  observations.push(
    fieldManagersOf(await record('applied'), 'f:spec f:template f:spec f:terminationGracePeriodSeconds'),
  )
  await environment.until('an apply that changes nothing writes nothing', async () => {
    const before = await afterReconcile(environment, name)
    await apply(api, ref, { spec: specOf(name) })
    return (await afterReconcile(environment, name)).metadata.resourceVersion === before.metadata.resourceVersion
  })
  await setReplicas(api, ref, { replicas: 3, manager: replicasOwner })
  await record('scaled')
  observations.push(await handOver())
  await setReplicas(api, ref, { replicas: 3, manager: 'other-manager' })
  await record('scaled to the same')
  await setReplicas(api, ref, { replicas: 1, manager: 'other-manager' })
  await record('scaled by another')
  await api.patch(ref, merge({ spec: { replicas: 2 } }))
  await record('edited by another')
  await setReplicas(api, ref, { replicas: 0, manager: replicasOwner })
  await record('scaled back')
  await apply(api, ref, { metadata: { annotations: { hash: '1' } }, spec: specOf(name) })
  await record('annotated')
  await apply(api, ref, { metadata: { annotations: { hash: '1' }, labels: { a: 'b' } }, spec: specOf(name) })
  observations.push((await record('labelled')).metadata.labels)
  await apply(api, ref, { spec: specOf(name) })
  const bare = await record('bare')
  observations.push([bare.metadata.labels ?? 'none', bare.metadata.annotations?.['hash'] ?? 'none'])
  return observations
}

const concurrentEdits = async (environment: Environment) => {
  const { api } = environment
  const name = 'edited'
  const ref = refOf(deployments, name)
  await create(api, name, 0)
  const first = await apply<Stored>(api, ref, { spec: specOf(name) })
  const containers = [
    { name: 'one', image: 'b' },
    { name: 'two', image: 'c' },
  ]
  const edited = await api.patch<Stored>(ref, merge({ spec: { template: { spec: { containers } } } }))
  const back = await apply<Stored>(api, ref, { spec: specOf(name) })
  const path = 'f:spec f:template f:spec f:containers k:{"name":"one"} f:image'
  const other = 'f:spec f:template f:spec f:containers k:{"name":"two"} f:image'
  return {
    images: [first, edited, back].map(imageOf),
    owners: [first, edited, back].map((object) => fieldManagersOf(object, path)),
    others: [edited, back].map((object) => fieldManagersOf(object, other)),
    refused: [
      await outcome(api.patch(ref, merge({ spec: { selector: { matchLabels: { app: 'other' } } } }))),
      await outcome(api.patch({ ...ref, subresource: 'scale' }, merge({ spec: { replicas: -1 } }))),
      await outcome(
        api.patch(
          { ...ref, subresource: 'scale' },
          merge({ metadata: { resourceVersion: '1' }, spec: { replicas: 1 } }),
        ),
      ),
      await outcome(setReplicas(api, refOf(deployments, 'nothing'), { replicas: 1, manager: 'x' })),
    ],
    owner: fieldManagersOf(back, sizePath),
    manager: fieldOwner,
  }
}

const scaleDownOrder = async (environment: Environment) => {
  const { api, until, unready, wait } = environment
  const name = 'victims'
  const size = (replicas: number) => setReplicas(api, refOf(deployments, name), { replicas, manager: replicasOwner })
  const gone: string[] = []
  let left: string[] = []
  const shrink = async (to: number, words: Readonly<Record<string, string>>) => {
    await size(to)
    await until(`${to} pods are left`, async () => (await listBy(api, pods, `app=${name}`)).length === to)
    const names = (await listBy(api, pods, `app=${name}`)).map(({ metadata }) => metadata.name)
    gone.push(...left.filter((each) => !names.includes(each)).map((each) => words[each] ?? 'another'))
    left = left.filter((each) => names.includes(each))
  }
  await create(api, name, 1, { cpu: '6' })
  await readyPods(environment, name, 1)
  // Ages are compared by powers of two.
  await wait(8000)
  await size(5)
  const [oldest = '', ...young] = await readyPods(environment, name, 5)
  await size(6)
  await until('a pod is unschedulable', async () =>
    (await listBy(api, pods, `app=${name}`)).some((pod) =>
      conditionSummaries(pod).includes('PodScheduled False Unschedulable'),
    ),
  )
  left = (await listBy(api, pods, `app=${name}`)).map(({ metadata }) => metadata.name)
  const unscheduled = left.find((each) => each !== oldest && !young.includes(each)) ?? ''
  const [late = '', costly = '', cheap = '', fourth = ''] = young
  await unready(late)
  await api.patch(refOf(pods, cheap), merge({ metadata: { annotations: { [costAnnotation]: '-2147483647' } } }))
  await api.patch(refOf(pods, costly), merge({ metadata: { annotations: { [costAnnotation]: '5' } } }))
  const words = {
    [unscheduled]: 'unscheduled',
    [late]: 'not ready',
    [cheap]: 'cheap',
    [costly]: 'costly',
    [fourth]: 'young',
    [oldest]: 'old',
  }
  for (const to of [5, 4, 3, 2, 1, 0]) await shrink(to, words)
  return gone
}

const podReplacement = async (environment: Environment) => {
  const { api, until } = environment
  const name = 'replacing'
  await create(api, name, 2)
  const [first = '', second = ''] = await readyPods(environment, name, 2)
  const { metadata } = await api.get<Stored>(refOf(pods, first))
  const wrong = await outcome(api.remove(refOf(pods, first), { uid: 'another' }))
  await api.remove(refOf(pods, first), { uid: metadata.uid })
  await until('it is removed', async () => (await find(api, refOf(pods, first))) === undefined)
  const after = await readyPods(environment, name, 2)
  const failed = { status: { phase: 'Failed', reason: 'Evicted' } }
  await api.patch({ ...refOf(pods, second), subresource: 'status' }, merge(failed))
  await until('a third pod exists', async () => (await listBy(api, pods, `app=${name}`)).length === 3)
  const adopted = await find(api, refOf(pods, second))
  return {
    wrong,
    hasOther: after.includes(second) && !after.includes(first),
    kept: [at(adopted, 'status', 'phase'), adopted?.metadata.ownerReferences?.[0]?.kind],
  }
}

const quotaFailure = async (environment: Environment) => {
  const { api, until } = environment
  const name = 'refusing'
  await limit(environment, 'few-pods', { 'count/configmaps': '0', pods: '1' })
  const running = { limit: 500, fieldSelector: 'status.phase!=Failed,status.phase!=Succeeded' }
  const others = (await api.list<Stored>(allOf(pods), running)).items.length
  await api.patch(
    refOf(resources.quotas, 'few-pods'),
    merge({ spec: { hard: { pods: `${others + 1}`, 'count/configmaps': null } } }),
  )
  await create(api, name, 3)
  let conditions: string[] = []
  await until('ReplicaFailure is reported', async () => {
    conditions = conditionSummaries(await afterReconcile(environment, name))
    return conditions.some((each) => each.startsWith('ReplicaFailure'))
  })
  const set = (await listBy(api, replicaSets, `app=${name}`))[0]
  const condition = (
    at(await afterReconcile(environment, name), 'status', 'conditions') as { type: string; message: string }[]
  ).find(({ type }) => type === 'ReplicaFailure')
  const created = (await listBy(api, pods, `app=${name}`)).length
  await api.remove(refOf(resources.quotas, 'few-pods'))
  await setReplicas(api, refOf(deployments, name), { replicas: 2, manager: replicasOwner })
  await readyPods(environment, name, 2)
  await until(
    'ReplicaFailure is gone',
    async () =>
      !conditionSummaries(await afterReconcile(environment, name)).some((each) => each.startsWith('ReplicaFailure')),
  )
  return {
    conditions: conditions.filter((each) => each.startsWith('ReplicaFailure')),
    made: created,
    set: set?.kind ?? 'no kind in lists',
    message: condition?.message.includes('exceeded quota: few-pods'),
  }
}

const rollout = async (environment: Environment) => {
  const { api, until } = environment
  const name = 'rolling'
  await create(api, name, 4)
  await readyPods(environment, name, 4)
  await apply(api, refOf(deployments, name), { spec: specOf(name, { image: 'b' }) })
  let most = 0
  await until('all pods are updated', async () => {
    const all = (await listBy(api, pods, `app=${name}`)).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    )
    most = Math.max(most, all.length)
    const fresh = all.filter(
      (pod) => at(pod, 'spec', 'containers') && JSON.stringify(pod['spec']).includes('"image":"b"'),
    )
    return fresh.length === 4 && all.length === 4
  })
  const bySize = (await listBy(api, replicaSets, `app=${name}`))
    .map((set) => Number(replicasOf(set)))
    .toSorted((a, b) => a - b)
  return { bySize, withinSurge: most <= 5 }
}

const proportionalScaling = async (environment: Environment) => {
  const { api, until } = environment
  const name = 'resizing'
  const ref = refOf(deployments, name)
  await create(api, name, 6)
  await readyPods(environment, name, 6)
  const late = specOf(name, { image: 'b' })
  const annotations = { 'pod-ready.stage.kwok.x-k8s.io/delay': '3600000ms' }
  const template = { ...late.template, metadata: { ...late.template.metadata, annotations } }
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } }
  await apply(api, ref, { spec: { ...late, template, strategy } })
  const sizes = async (total: number) => {
    let sizesSoFar: unknown[] = []
    await until(`${total} pods`, async () => {
      sizesSoFar = (await listBy(api, replicaSets, `app=${name}`))
        .map(replicasOf)
        .toSorted((a, b) => Number(a) - Number(b))
      const all = await listBy(api, pods, `app=${name}`)
      return sizesSoFar.reduce((sum: number, each) => sum + Number(each), 0) === total && all.length === total
    })
    // A second resize before the controller has finished the first one distributes the replicas differently.
    await afterReconcile(environment, name)
    return sizesSoFar
  }
  const history = [await sizes(8)]
  for (const [replicas, total] of [
    [10, 13],
    [5, 7],
    [4, 5],
  ] as const) {
    await setReplicas(api, ref, { replicas, manager: replicasOwner })
    history.push(await sizes(total))
  }
  return history
}

const garbageCollection = async (environment: Environment) => {
  const { api, until } = environment
  const name = 'collected'
  await create(api, name, 1)
  await readyPods(environment, name, 1)
  await api.remove(refOf(deployments, name))
  await until('everything is gone', async () => {
    const rest = [...(await listBy(api, replicaSets, `app=${name}`)), ...(await listBy(api, pods, `app=${name}`))]
    return rest.length === 0
  })
  return (await find(api, refOf(deployments, name))) ?? 'gone'
}

export const deploymentScenarios: readonly Scenario[] = [
  { name: 'tracks the field managers of spec.replicas and counts generations of a Deployment', run: fieldOwnership },
  { name: 'takes back with an apply what another field manager edited', run: concurrentEdits },
  { name: 'deletes pods in the order of the ReplicaSet controller', run: scaleDownOrder },
  { name: 'replaces pods that are deleted or fail', run: podReplacement },
  { name: 'reports ReplicaFailure while a quota prevents the creation of pods', run: quotaFailure },
  { name: 'rolls out a new template', run: rollout },
  { name: 'scales the ReplicaSets of a rollout proportionally', run: proportionalScaling },
  { name: 'garbage-collects the dependents of a deleted Deployment', run: garbageCollection },
]

import { apply, setReplicas } from '#controller/kube/apply.ts'
import type { KubeApi, Patch } from '#shared/kube/client.ts'
import { fieldOwner, replicasOwner } from '#shared/kube/names.ts'
import {
  allOf,
  find,
  limit,
  listBy,
  make,
  one,
  outcome,
  queueOwners,
  resources,
  saidOf,
  type Scenario,
  type Stage,
} from './conformance.ts'
import { at, type Stored } from './object.ts'

const { deployments, sets, pods } = resources
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

const merge = (body: object, fieldManager = 'somebody'): Patch => ({ kind: 'merge', body, fieldManager })
const replicasOf = (object: Stored | undefined) => at(object, 'spec', 'replicas')
const imageOf = (object: Stored) =>
  (at(object, 'spec', 'template', 'spec', 'containers') as { image: string }[])[0]?.image

/** Reads a Deployment once its controller has observed the current generation. */
const settled = async ({ api, until }: Stage, name: string): Promise<Stored> => {
  let found: Stored | undefined
  await until('the controller has seen it', async () => {
    found = await find(api, one(deployments, name))
    return at(found, 'status', 'observedGeneration') === found?.metadata.generation
  })
  return found as Stored
}

/** Waits until `count` pods are ready, and returns their names, oldest first. */
const readyPods = async ({ api, until }: Stage, app: string, count: number): Promise<string[]> => {
  let names: string[] = []
  await until(`${count} ready pods of ${app}`, async () => {
    const all = await listBy(api, pods, `app=${app}`)
    const ready = all.filter((pod) => saidOf(pod).some((word) => word.startsWith('Ready True')))
    names = ready
      .toSorted((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1))
      .map(({ metadata }) => metadata.name)
    return ready.length === count
  })
  return names
}

const owning = async (stage: Stage) => {
  const { api } = stage
  const name = 'owned'
  const ref = one(deployments, name)
  const seen: unknown[] = []
  const note = async (what: string) => {
    const now = await settled(stage, name)
    seen.push([what, replicasOf(now), now.metadata.generation, queueOwners(now, sizePath)])
    return now
  }
  await apply(api, ref, { spec: { ...specOf(name), replicas: 2 } }, { force: false })
  await note('created')
  const handOver = () =>
    outcome(apply(api, ref, { spec: { replicas: 2 } }, { fieldManager: replicasOwner, force: false }))
  seen.push(await handOver())
  seen.push(queueOwners(await note('handed over'), 'f:spec f:template f:spec f:terminationGracePeriodSeconds'))
  await apply(api, ref, { spec: specOf(name) })
  seen.push(queueOwners(await note('applied'), 'f:spec f:template f:spec f:terminationGracePeriodSeconds'))
  await stage.until('an apply that changes nothing writes nothing', async () => {
    const before = await settled(stage, name)
    await apply(api, ref, { spec: specOf(name) })
    return (await settled(stage, name)).metadata.resourceVersion === before.metadata.resourceVersion
  })
  await setReplicas(api, ref, { replicas: 3, manager: replicasOwner })
  await note('scaled')
  seen.push(await handOver())
  await setReplicas(api, ref, { replicas: 3, manager: 'somebody' })
  await note('scaled to the same')
  await setReplicas(api, ref, { replicas: 1, manager: 'somebody' })
  await note('scaled by another')
  await api.patch(ref, merge({ spec: { replicas: 2 } }))
  await note('edited by another')
  await setReplicas(api, ref, { replicas: 0, manager: replicasOwner })
  await note('scaled back')
  await apply(api, ref, { metadata: { annotations: { hash: '1' } }, spec: specOf(name) })
  await note('annotated')
  await apply(api, ref, { metadata: { annotations: { hash: '1' }, labels: { a: 'b' } }, spec: specOf(name) })
  seen.push((await note('labelled')).metadata.labels)
  await apply(api, ref, { spec: specOf(name) })
  const bare = await note('bare')
  seen.push([bare.metadata.labels ?? 'none', bare.metadata.annotations?.['hash'] ?? 'none'])
  return seen
}

const editing = async (stage: Stage) => {
  const { api } = stage
  const name = 'edited'
  const ref = one(deployments, name)
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
    owners: [first, edited, back].map((object) => queueOwners(object, path)),
    others: [edited, back].map((object) => queueOwners(object, other)),
    refused: [
      await outcome(api.patch(ref, merge({ spec: { selector: { matchLabels: { app: 'other' } } } }))),
      await outcome(api.patch({ ...ref, subresource: 'scale' }, merge({ spec: { replicas: -1 } }))),
      await outcome(
        api.patch(
          { ...ref, subresource: 'scale' },
          merge({ metadata: { resourceVersion: '1' }, spec: { replicas: 1 } }),
        ),
      ),
      await outcome(setReplicas(api, one(deployments, 'nothing'), { replicas: 1, manager: 'x' })),
    ],
    owner: queueOwners(back, sizePath),
    manager: fieldOwner,
  }
}

const victims = async (stage: Stage) => {
  const { api, until, unready, wait } = stage
  const name = 'victims'
  const size = (replicas: number) => setReplicas(api, one(deployments, name), { replicas, manager: replicasOwner })
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
  await readyPods(stage, name, 1)
  // Ages are compared by powers of two.
  await wait(8000)
  await size(5)
  const [oldest = '', ...young] = await readyPods(stage, name, 5)
  await size(6)
  await until('one does not fit', async () =>
    (await listBy(api, pods, `app=${name}`)).some((pod) => saidOf(pod).includes('PodScheduled False Unschedulable')),
  )
  left = (await listBy(api, pods, `app=${name}`)).map(({ metadata }) => metadata.name)
  const unscheduled = left.find((each) => each !== oldest && !young.includes(each)) ?? ''
  const [late = '', costly = '', cheap = '', fourth = ''] = young
  await unready(late)
  await api.patch(one(pods, cheap), merge({ metadata: { annotations: { [costAnnotation]: '-2147483647' } } }))
  await api.patch(one(pods, costly), merge({ metadata: { annotations: { [costAnnotation]: '5' } } }))
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

const replacing = async (stage: Stage) => {
  const { api, until } = stage
  const name = 'replacing'
  await create(api, name, 2)
  const [first = '', second = ''] = await readyPods(stage, name, 2)
  const { metadata } = await api.get<Stored>(one(pods, first))
  const wrong = await outcome(api.remove(one(pods, first), { uid: 'another' }))
  await api.remove(one(pods, first), { uid: metadata.uid })
  await until('it is gone', async () => (await find(api, one(pods, first))) === undefined)
  const after = await readyPods(stage, name, 2)
  const failed = { status: { phase: 'Failed', reason: 'Evicted' } }
  await api.patch({ ...one(pods, second), subresource: 'status' }, merge(failed))
  await until('a third comes', async () => (await listBy(api, pods, `app=${name}`)).length === 3)
  const kept = await find(api, one(pods, second))
  return {
    wrong,
    hasOther: after.includes(second) && !after.includes(first),
    kept: [at(kept, 'status', 'phase'), kept?.metadata.ownerReferences?.[0]?.kind],
  }
}

const refusing = async (stage: Stage) => {
  const { api, until } = stage
  const name = 'refusing'
  await limit(stage, 'few-pods', { 'count/configmaps': '0', pods: '1' })
  const running = { limit: 500, fieldSelector: 'status.phase!=Failed,status.phase!=Succeeded' }
  const others = (await api.list<Stored>(allOf(pods), running)).items.length
  await api.patch(
    one(resources.quotas, 'few-pods'),
    merge({ spec: { hard: { pods: `${others + 1}`, 'count/configmaps': null } } }),
  )
  await create(api, name, 3)
  let said: string[] = []
  await until('it says so', async () => {
    said = saidOf(await settled(stage, name))
    return said.some((word) => word.startsWith('ReplicaFailure'))
  })
  const set = (await listBy(api, sets, `app=${name}`))[0]
  const condition = (
    at(await settled(stage, name), 'status', 'conditions') as { type: string; message: string }[]
  ).find(({ type }) => type === 'ReplicaFailure')
  const made = (await listBy(api, pods, `app=${name}`)).length
  await api.remove(one(resources.quotas, 'few-pods'))
  await setReplicas(api, one(deployments, name), { replicas: 2, manager: replicasOwner })
  await readyPods(stage, name, 2)
  await until(
    'it says no more',
    async () => !saidOf(await settled(stage, name)).some((word) => word.startsWith('ReplicaFailure')),
  )
  return {
    said: said.filter((word) => word.startsWith('ReplicaFailure')),
    made,
    set: set?.kind ?? 'no kind in lists',
    message: condition?.message.includes('exceeded quota: few-pods'),
  }
}

const rolling = async (stage: Stage) => {
  const { api, until } = stage
  const name = 'rolling'
  await create(api, name, 4)
  await readyPods(stage, name, 4)
  await apply(api, one(deployments, name), { spec: specOf(name, { image: 'b' }) })
  let most = 0
  await until('all are new', async () => {
    const all = (await listBy(api, pods, `app=${name}`)).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    )
    most = Math.max(most, all.length)
    const fresh = all.filter(
      (pod) => at(pod, 'spec', 'containers') && JSON.stringify(pod['spec']).includes('"image":"b"'),
    )
    return fresh.length === 4 && all.length === 4
  })
  const bySize = (await listBy(api, sets, `app=${name}`))
    .map((set) => Number(replicasOf(set)))
    .toSorted((a, b) => a - b)
  return { bySize, withinSurge: most <= 5 }
}

const resizing = async (stage: Stage) => {
  const { api, until } = stage
  const name = 'resizing'
  const ref = one(deployments, name)
  await create(api, name, 6)
  await readyPods(stage, name, 6)
  const late = specOf(name, { image: 'b' })
  const annotations = { 'pod-ready.stage.kwok.x-k8s.io/delay': '3600000ms' }
  const template = { ...late.template, metadata: { ...late.template.metadata, annotations } }
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } }
  await apply(api, ref, { spec: { ...late, template, strategy } })
  const sizes = async (total: number) => {
    let seen: unknown[] = []
    await until(`${total} pods`, async () => {
      seen = (await listBy(api, sets, `app=${name}`)).map(replicasOf).toSorted((a, b) => Number(a) - Number(b))
      const all = await listBy(api, pods, `app=${name}`)
      return seen.reduce((sum: number, each) => sum + Number(each), 0) === total && all.length === total
    })
    // A second resize before the controller has finished the first one distributes the replicas differently.
    await settled(stage, name)
    return seen
  }
  const seen = [await sizes(8)]
  for (const [replicas, total] of [
    [10, 13],
    [5, 7],
    [4, 5],
  ] as const) {
    await setReplicas(api, ref, { replicas, manager: replicasOwner })
    seen.push(await sizes(total))
  }
  return seen
}

const collecting = async (stage: Stage) => {
  const { api, until } = stage
  const name = 'collected'
  await create(api, name, 1)
  await readyPods(stage, name, 1)
  await api.remove(one(deployments, name))
  await until('everything is gone', async () => {
    const rest = [...(await listBy(api, sets, `app=${name}`)), ...(await listBy(api, pods, `app=${name}`))]
    return rest.length === 0
  })
  return (await find(api, one(deployments, name))) ?? 'gone'
}

export const deploymentScenarios: readonly Scenario[] = [
  { name: 'knows who decides the size of a Deployment, and counts its generations', play: owning },
  { name: 'lets who applies take back what another edited', play: editing },
  { name: 'takes pods away in the order of the ReplicaSet controller', play: victims },
  { name: 'replaces pods that are deleted or fail', play: replacing },
  { name: 'says where a quota keeps pods from being made', play: refusing },
  { name: 'rolls a new template out', play: rolling },
  { name: 'spreads a new size over the ReplicaSets of a rollout', play: resizing },
  { name: 'collects what a deleted Deployment owned', play: collecting },
]

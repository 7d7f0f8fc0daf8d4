import t from 'tap'
import { type KubeApi, createKubeApi } from '#shared/kube/client.ts'
import { systemClock } from '#controller/kube/clock.ts'
import { openConnection } from '#shared/kube/connection.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { Reflector, type WatchEnd } from '#controller/kube/reflector.ts'
import { objectKey, type KubeObject } from '#shared/kube/resource.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { type FaultyProxy, startFaultyProxy } from '#test/helpers/faulty-proxy.ts'
import { startTcpProxy } from '#test/helpers/tcp-proxy.ts'

const cluster = await startCluster(t, { controllerManager: false, kwok: false })
const connection = openConnection({ kubeconfig: cluster.kubeconfig, userAgent: 'test' })
t.teardown(() => connection[Symbol.asyncDispose]())
const api = createKubeApi(connection)

const configMaps = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' }
const all = { resource: configMaps, namespace: 'default' }
const names = Array.from({ length: 30 }, (_, index) => `map-${index}`)

/** Creates, changes or deletes the ConfigMap of `turn`; each ConfigMap gets three turns in a row. */
const churn = async (turn: number) => {
  const ref = { ...all, name: names[Math.floor(turn / 3) % names.length]! }
  try {
    if (turn % 5 === 4) await api.remove(ref)
    else await api.patch(ref, { kind: 'merge', body: { data: { turn: String(turn) } } })
  } catch (thrown) {
    if (outcomeOf(thrown) !== 'not-found') throw thrown
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: ref.name }, data: { turn: String(turn) } }
    await api.create(all, map)
  }
}

const churnFor = async (turns: number) => {
  for (let turn = 0; turn < turns; turn += 1) await churn(turn)
}

const versionsOf = (objects: readonly KubeObject[]) =>
  objects.map((object) => `${objectKey(object)} ${object.metadata?.resourceVersion}`).toSorted()

const listed = async () => versionsOf((await api.list(all, { limit: 500 })).items)

const equalsList = (reflector: Reflector<KubeObject>) =>
  eventually(async () => JSON.stringify(versionsOf(reflector.all())) === JSON.stringify(await listed()), {
    what: 'the store equals a direct list',
  })

/** A reflector that uses `through` and records its events. */
const reflect = (through: Pick<KubeApi, 'list' | 'watch'>, inactivityMs = 90_000) => {
  const observed = { ends: [] as WatchEnd[], lists: 0, keys: new Map<string, 'added' | 'updated' | 'deleted'>() }
  const reflector = new Reflector<KubeObject>(
    {
      api: through,
      clock: systemClock,
      random: Math.random,
      changed: ({ kind, key }) => observed.keys.set(key, kind),
      events: { listed: () => (observed.lists += 1), ended: (end) => observed.ends.push(end) },
    },
    { ...all, inactivityMs, backOff: { firstMs: 10, lastMs: 200 } },
  )
  return { reflector, observed }
}

type TestEnd = { teardown: (clean: () => Promise<void> | void) => void; testdir: () => string }

/** A reflector behind a faulty proxy, in step with the API server. */
const reflectBehindProxy = async (t: TestEnd, inactivityMs?: number) => {
  const proxy = await startFaultyProxy(t, cluster.kubeconfig)
  const through = openConnection({ kubeconfig: proxy.kubeconfig, userAgent: 'test' })
  const { reflector, observed } = reflect(createKubeApi(through), inactivityMs)
  t.teardown(async () => {
    await reflector[Symbol.asyncDispose]()
    await through[Symbol.asyncDispose]()
  })
  await watching(proxy)
  await equalsList(reflector)
  return { proxy, reflector, observed }
}

const watching = (proxy: FaultyProxy) => eventually(() => proxy.watches() === 1, { what: 'a watch is open' })

t.test('kube reflector: the store and the reported changes equal a direct list', async (t) => {
  await churnFor(20)
  const { reflector, observed } = reflect(api)
  t.teardown(() => reflector[Symbol.asyncDispose]())
  await churnFor(100)
  await equalsList(reflector)
  const present = [...observed.keys].filter(([, kind]) => kind !== 'deleted').map(([key]) => key)
  t.strictSame(present.toSorted(), reflector.all().map(objectKey).toSorted())
  t.equal(observed.lists, 1)
})

t.test('kube reflector: resumes a watch whose connection was reset', async (t) => {
  const { proxy, reflector, observed } = await reflectBehindProxy(t)
  for (let cut = 0; cut < 5; cut += 1) {
    const churning = churnFor(40)
    proxy.reset()
    await churning
    await watching(proxy)
  }
  await equalsList(reflector)
  t.equal(observed.lists, 1, 'without a new list')
  t.ok(observed.ends.includes('failed'))
})

t.test('kube reflector: lists again when its resource version has expired', async (t) => {
  const { proxy, reflector, observed } = await reflectBehindProxy(t)
  const churning = churnFor(60)
  proxy.expire()
  await churning
  await equalsList(reflector)
  t.equal(observed.lists, 2)
  t.strictSame(observed.ends, ['gone'])
})

t.test('kube reflector: recovers from rejected, failed, reset and slow lists and watches', async (t) => {
  const { proxy, reflector, observed } = await reflectBehindProxy(t)
  proxy.faults.list.push(
    { kind: 'answer', status: 500 },
    { kind: 'answer', status: 429, retryAfterSeconds: 1 },
    { kind: 'reset' },
    { kind: 'slow', waitMs: 1000 },
  )
  proxy.faults.watch.push(
    { kind: 'answer', status: 410 },
    { kind: 'answer', status: 500 },
    { kind: 'answer', status: 429, retryAfterSeconds: 1 },
    { kind: 'reset' },
  )
  proxy.reset()
  await churnFor(60)
  await eventually(() => proxy.faults.list.length + proxy.faults.watch.length === 0, { what: 'all faults happened' })
  await watching(proxy)
  await equalsList(reflector)
  t.equal(observed.lists, 2)
})

t.test('kube reflector: replaces a connection whose peer has vanished', async (t) => {
  const proxy = await startTcpProxy(t, cluster.kubeconfig)
  const through = openConnection({ kubeconfig: proxy.kubeconfig, userAgent: 'test' })
  // Longer than the 4 s for which an idle connection is reused, because idle connections are frozen too.
  const { reflector, observed } = reflect(createKubeApi(through), 6000)
  t.teardown(async () => {
    await reflector[Symbol.asyncDispose]()
    await through[Symbol.asyncDispose]()
  })
  await equalsList(reflector)
  const before = proxy.connections()
  proxy.freeze()
  await churnFor(60)
  await eventually(() => observed.ends.includes('silent'), { what: 'the watch ends by its inactivity timeout' })
  await equalsList(reflector)
  t.ok(proxy.connections() > before)
})

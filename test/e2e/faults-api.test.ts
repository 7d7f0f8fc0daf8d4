import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { leaseMs, outageMs, startControllers, startFaultedCluster } from '#test/helpers/faulted-cluster.ts'
import { startFaultyProxy } from '#test/helpers/faulty-proxy.ts'

const world = await startFaultedCluster(t)
const { cluster, queue, endure, poolOf, writesSince } = world
const proxy = await startFaultyProxy(t, cluster.controllerKubeconfig)

/** Makes all reads through the proxy fail until `allowReads`. */
const failReads = () => {
  const broken = Array.from({ length: 10_000 }, () => ({ kind: 'answer', status: 500 }) as const)
  proxy.faults.watch.push(...broken)
  proxy.faults.list.push(...broken)
  proxy.reset()
}
const allowReads = () => {
  proxy.faults.watch.splice(0)
  proxy.faults.list.splice(0)
}

t.test('faults api: workers keep serving during an outage of the API server, and everything resumes after it', (t) =>
  endure(t, async () => {
    await cluster.kill('kube-apiserver')
    await delay(outageMs)
    await cluster.start('kube-apiserver')
    await startControllers(cluster)
  }),
)

t.test('faults api: an API server that freezes repeatedly causes no damage', (t) =>
  endure(t, async () => {
    const end = performance.now() + outageMs
    while (performance.now() < end) {
      cluster.freeze('kube-apiserver')
      await delay(1300)
      cluster.thaw('kube-apiserver')
      await delay(500)
    }
  }),
)

t.test('faults api: controllers list again after the API server is restored to an older state', async (t) => {
  const remaining = new Set<string>()
  const names = async () => {
    const { items } = await cluster.get<{ items: { metadata: { name: string } }[] }>('pods')
    return items.map(({ metadata }) => metadata.name)
  }
  await endure(
    t,
    async () => {
      const before = new Set(await names())
      const snapshot = await cluster.snapshot()
      for (const name of await names()) if (before.has(name)) remaining.add(name)
      await delay(2000)
      // Longer than any back-off: a client that missed the outage would take the older versions for newer ones.
      await cluster.kill('kube-apiserver')
      await delay(5000)
      await cluster.restore(snapshot)
      await startControllers(cluster)
    },
    // Objects that were created after the snapshot are lost.
    { ends: (pod) => !remaining.has(pod), revivesJobs: true },
  )
})

t.test('faults api: a write whose response was lost is not repeated', async (t) => {
  await world.startAnother('two', { kubeconfig: proxy.kubeconfig })
  await world.operator.stop()
  await endure(t, async () => {
    await eventually(async () => (await world.lease()).holder === 'two')
    // Watches do not deliver the change either, while the cache still counts as fresh.
    failReads()
    proxy.faults.write.push(...Array.from({ length: 16 }, () => ({ kind: 'unanswered' }) as const))
    await queue.send(8, { pool: 'proxied' })
    await queue.send(8)
    await eventually(() => proxy.faults.write.length === 0, { what: 'all responses were lost' })
    allowReads()
    await delay(leaseMs)
    // On a busy machine Jobs start later than the lease ends.
    const ofJobs = () =>
      [...queue.rows.values()].filter(({ pool, results }) => pool === 'proxied' && results.length > 0)
    const before = ofJobs().length
    await eventually(() => ofJobs().length > before, { withinMs: 60_000, what: 'a capture of a Job is served' })
  })
})

t.test('faults api: while reads fail nothing is written, although writes would succeed', async (t) => {
  await endure(t, async () => {
    failReads()
    const isUnknown = async (name: string) => (await poolOf(name)).status?.reason === 'workers-unknown'
    await eventually(async () => (await isUnknown('standard')) && isUnknown('proxied'), {
      what: 'both pools report workers-unknown',
    })
    const sinceMs = Date.now()
    await delay(outageMs / 2)
    const changes = (await writesSince(sinceMs)).filter(({ resource }) => !resource.endsWith('/status'))
    t.strictSame(changes, [], 'only the status was written')
    allowReads()
  })
})

import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { leaseMs, outageMs, startControllers, startFaultedCluster } from '#test/helpers/faulted-cluster.ts'
import { startFaultyProxy } from '#test/helpers/faulty-proxy.ts'

const world = await startFaultedCluster(t)
const { cluster, queue, endure, poolOf, writesSince } = world
const proxy = await startFaultyProxy(t, cluster.controllerKubeconfig)

/** Lets nothing be read through the proxy any more, until `see`. */
const blind = () => {
  const broken = Array.from({ length: 10_000 }, () => ({ kind: 'answer', status: 500 }) as const)
  proxy.faults.watch.push(...broken)
  proxy.faults.list.push(...broken)
  proxy.reset()
}
const see = () => {
  proxy.faults.watch.splice(0)
  proxy.faults.list.splice(0)
}

t.test('faults api: without an API server workers serve on, and afterwards everything goes on', (t) =>
  endure(t, async () => {
    await cluster.kill('kube-apiserver')
    await delay(outageMs)
    await cluster.start('kube-apiserver')
    await startControllers(cluster)
  }),
)

t.test('faults api: an API server that answers by fits and starts does no harm', (t) =>
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

t.test('faults api: an API server that is set back to an older state is read anew', async (t) => {
  const kept = new Set<string>()
  const names = async () => {
    const { items } = await cluster.get<{ items: { metadata: { name: string } }[] }>('pods')
    return items.map(({ metadata }) => metadata.name)
  }
  await endure(
    t,
    async () => {
      const before = new Set(await names())
      const snapshot = await cluster.snapshot()
      for (const name of await names()) if (before.has(name)) kept.add(name)
      await delay(2000)
      // Longer than anybody waits for the next try: who never found the server away takes its versions for new ones.
      await cluster.kill('kube-apiserver')
      await delay(5000)
      await cluster.restore(snapshot)
      await startControllers(cluster)
    },
    // What was made since then is gone.
    { ends: (pod) => !kept.has(pod), revivesJobs: true },
  )
})

t.test('faults api: what was done without an answer is not done a second time', async (t) => {
  await world.startAnother('two', { kubeconfig: proxy.kubeconfig })
  await world.operator.stop()
  await endure(t, async () => {
    await eventually(async () => (await world.lease()).holder === 'two')
    // Nor does a watch tell that it was done, for a time for which what was read last still counts.
    blind()
    proxy.faults.write.push(...Array.from({ length: 16 }, () => ({ kind: 'unanswered' }) as const))
    await queue.send(8, { pool: 'proxied' })
    await queue.send(8)
    await eventually(() => proxy.faults.write.length === 0, { what: 'all answers were lost' })
    see()
    await delay(leaseMs)
  })
})

t.test('faults api: while nothing can be read, nothing is changed, though it could be', async (t) => {
  await endure(t, async () => {
    blind()
    const isUnknown = async (name: string) => (await poolOf(name)).status?.reason === 'workers-unknown'
    await eventually(async () => (await isUnknown('standard')) && isUnknown('proxied'), {
      what: 'both pools are unknown',
    })
    const sinceMs = Date.now()
    await delay(outageMs / 2)
    const changes = (await writesSince(sinceMs)).filter(({ resource }) => !resource.endsWith('/status'))
    t.strictSame(changes, [], 'nothing but statuses was written')
    see()
  })
})

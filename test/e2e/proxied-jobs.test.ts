import t from 'tap'
import { captureLabel } from '#shared/kube/names.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { jobOf } from '#test/helpers/job-record.ts'
import { proxied, startProxiedCluster } from '#test/helpers/proxied-cluster.ts'

const { name } = proxied
const world = await startProxiedCluster(t)
const { cluster, queue, fleet, life, record, configure, send, state, startsOf, assertSettled, poolOf, holds } = world

t.test('proxied jobs: 60 captures get 60 Jobs, ten at a time, each with one claim', async (t) => {
  const ids = await send(60)
  await queue.allEnded(120_000)
  await eventually(() => record.claims.size === 60)
  t.equal(record.createdNames.size, 60)
  t.strictSame([...record.claims.values()].toSorted(), ids.toSorted())
  t.equal(record.claimWrites(), 60)
  for (const id of ids)
    t.strictSame(
      startsOf(id).map(({ pod }) => record.claims.get(pod)),
      [id],
    )
  await assertSettled(t)
})

t.test('proxied jobs: a capture gets its Job immediately, and kubectl shows the claim', async (t) => {
  life.serviceMs = 8000
  const [id] = await send(1)
  await eventually(() => record.claims.size === 1)
  const shown = await cluster.kubectl(['get', 'jobs', '-L', captureLabel, '--no-headers'])
  t.ok(shown.includes(id!))
  await eventually(async () => {
    const { replicas, readyReplicas, desiredReplicas, busySlots, reason } = (await poolOf(name)).status ?? {}
    return [replicas, readyReplicas, desiredReplicas, busySlots, reason].join() === '1,1,1,1,steady'
  })
  life.serviceMs = 300
  await queue.allEnded()
  await assertSettled(t)
})

t.test('proxied jobs: a capture takes a waiting spare, which is replaced', async (t) => {
  await configure({ spares: 2 })
  await eventually(() => fleet.workers().filter(({ state: is }) => is() === 'ready').length === 2)
  const waiting = new Set(record.unfinished().map(({ metadata }) => metadata.name))
  const [id] = await send(1)
  await queue.allEnded()
  t.ok(waiting.has(jobOf(fleet.attempts.findLast((each) => each.id === id)!.pod)))
  await eventually(() => record.createdNames.size === 3 && record.unfinished().length === 2)
})

t.test('proxied jobs: no Job is created while the pool is paused', async (t) => {
  await configure({ spares: 2 }, { paused: true })
  await holds(name, 'ScalingActive', 'False Paused')
  const before = record.createdNames.size
  const ids = await send(4)
  await eventually(() => ids.filter((id) => startsOf(id).length > 0).length === 2, { what: 'the spares serve' })
  t.equal(record.createdNames.size, before)
  await configure({})
  await queue.allEnded()
  t.equal(record.createdNames.size, before + 2)
  await assertSettled(t)
})

t.test('proxied jobs: the capture of a Job whose pod is killed is served by another Job, once', async (t) => {
  life.serviceMs = 5000
  const [id] = await send(1)
  await eventually(() => startsOf(id!).length === 1)
  const [victim] = fleet.workers()
  await cluster.kubectl(['delete', 'pod', victim!.spec.pod, '--grace-period=0', '--force'])
  life.serviceMs = 300
  await eventually(() => record.createdNames.size === 2, { what: 'another Job' })
  await queue.allEnded(60_000)
  t.equal(startsOf(id!).length, 2)
  t.equal(record.createdNames.size, 2)
  t.equal(state()?.canStart, true)
  await assertSettled(t)
})

t.test(
  'proxied jobs: Jobs of a deleted BrowserPool finish their captures and are deleted, and a new pool works',
  async (t) => {
    life.serviceMs = 3000
    const [id] = await send(1)
    await eventually(() => startsOf(id!).length === 1)
    await cluster.kubectl(['delete', 'bp', name])
    await queue.allEnded()
    const left = async () => (await cluster.get<{ items: [] }>('jobs,pods')).items.length
    await eventually(async () => (await left()) === 0, { what: 'Jobs and pods are deleted', withinMs: 60_000 })
    await configure({})
    t.equal(startsOf(id!).length, 1)
    t.equal(record.createdNames.size, 1)
    await assertSettled(t)
  },
)

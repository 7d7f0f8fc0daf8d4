import t, { type Test } from 'tap'
import { captureLabel } from '#shared/kube/names.ts'
import type { Fault } from '#test/helpers/cluster-fleet.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { jobOf, recordJobs } from '#test/helpers/job-record.ts'
import { startOperatorCluster } from '#test/helpers/operator-cluster.ts'

let serviceMs = 300
/** What is wrong with every pod that starts. */
let wrong: Fault | undefined
let spares = 0
const world = await startOperatorCluster(t, { serviceMs: () => serviceMs, faultOf: () => wrong, nodes: 2 })
const { cluster, queue, fleet, applyPool, poolOf, holds, eventsOf } = world
const record = recordJobs(world, () => spares)
t.teardown(() => record[Symbol.asyncDispose]())

const name = 'proxied'
const max = 10
const want = (jobs: object, more: object = {}) => {
  spares = (jobs as { spares?: number }).spares ?? 0
  return applyPool(name, { pool: 'proxied', jobs: { max, ...jobs }, ...more })
}
const send = (count: number) => queue.send(count, { pool: 'proxied' })
const state = () => queue.poolStates.get('proxied')
const startsOf = (id: string) => queue.rows.get(id)?.starts ?? []
/** Ends a test: once all Jobs have ended, none was too many at any time, and the next test counts from nothing. */
const settled = async (t: Test, most = max) => {
  await eventually(() => record.unfinished().length === 0, { withinMs: 60_000, what: 'all Jobs have ended' })
  t.strictSame(record.excesses, [], 'never more Jobs than captures, claims and spares')
  t.ok(record.most() <= most, `${record.most()} Jobs at one time`)
  t.strictSame(queue.endedTwice(), [])
  record.restart()
}

t.test('60 captures get 60 Jobs, ten at a time, each with one claim', async (t) => {
  await want({})
  await eventually(() => state()?.canStart === true)
  const ids = await send(60)
  await queue.allEnded(120_000)
  await eventually(() => record.claims.size === 60)
  t.equal(record.made.size, 60)
  t.strictSame([...record.claims.values()].toSorted(), ids.toSorted())
  t.equal(record.claimWrites(), 60)
  for (const id of ids)
    t.strictSame(
      startsOf(id).map(({ pod }) => record.claims.get(pod)),
      [id],
    )
  await settled(t)
})

t.test('a capture has its Job at once, and a claim is seen with kubectl', async (t) => {
  serviceMs = 8000
  const [id] = await send(1)
  await eventually(() => record.claims.size === 1)
  const shown = await cluster.kubectl(['get', 'jobs', '-L', captureLabel, '--no-headers'])
  t.ok(shown.includes(id!))
  await eventually(async () => {
    const { replicas, readyReplicas, desired, busySlots, reason } = (await poolOf(name)).status ?? {}
    return [replicas, readyReplicas, desired, busySlots, reason].join() === '1,1,1,1,steady'
  })
  serviceMs = 300
  await queue.allEnded()
  await settled(t)
})

t.test('spares wait, are taken, and are replaced', async (t) => {
  await want({ spares: 2 })
  await eventually(() => fleet.workers().filter(({ state: is }) => is() === 'ready').length === 2)
  const waiting = new Set(record.unfinished().map(({ metadata }) => metadata.name))
  const [id] = await send(1)
  await queue.allEnded()
  t.ok(waiting.has(jobOf(fleet.attempts.findLast((each) => each.id === id)!.pod)))
  await eventually(() => record.made.size === 3 && record.unfinished().length === 2)
})

t.test('nothing is made while the pool is paused', async (t) => {
  await want({ spares: 2 }, { paused: true })
  await holds(name, 'ScalingActive', 'False Paused')
  const before = record.made.size
  const ids = await send(4)
  await eventually(() => ids.filter((id) => startsOf(id).length > 0).length === 2, { what: 'the spares serve' })
  t.equal(record.made.size, before)
  await want({})
  await queue.allEnded()
  t.equal(record.made.size, before + 2)
  await settled(t)
})

t.test('a Job whose pod is killed while it serves: another serves its capture, once', async (t) => {
  serviceMs = 5000
  const [id] = await send(1)
  await eventually(() => startsOf(id!).length === 1)
  const [victim] = fleet.workers()
  await cluster.kubectl(['delete', 'pod', victim!.spec.pod, '--grace-period=0', '--force'])
  serviceMs = 300
  await eventually(() => record.made.size === 2, { what: 'another Job' })
  await queue.allEnded(60_000)
  t.equal(startsOf(id!).length, 2)
  t.equal(record.made.size, 2)
  t.equal(state()?.canStart, true)
  await settled(t)
})

t.test('an image that cannot be pulled: the pool says for how long, and goes on once it is mended', async (t) => {
  wrong = { kind: 'hindered', reason: 'ImagePullBackOff', message: 'Back-off pulling image "none"' }
  await send(3)
  await eventually(() => state()?.canStart === false && state()?.reason === 'image-pull')
  await holds(name, 'Degraded', 'True ImagePull')
  await holds(name, 'Ready', 'False WorkersMissing')
  const early = state()?.forMs ?? 0
  await eventually(() => (state()?.forMs ?? 0) > early + 3000)
  t.ok((await eventsOf(name)).some(({ reason, note }) => reason === 'ImagePull' && note.includes('Back-off pulling')))
  t.equal(record.made.size, 3, 'none on top of those that are stuck')
  wrong = undefined
  await want({}, { template: { image: 'another' } })
  await queue.allEnded(60_000)
  await eventually(() => state()?.canStart === true)
  await holds(name, 'Degraded', 'False AsExpected')
  await settled(t)
})

t.test('Jobs that end before they claim: fewer and fewer tries', async (t) => {
  wrong = { kind: 'ends', exitCode: 1 }
  await send(2)
  await eventually(() => state()?.reason === 'crash-looping' && (state()?.forMs ?? 0) > 4000)
  t.ok(record.made.size >= 3 && record.made.size <= 6, `${record.made.size} Jobs`)
  await holds(name, 'Degraded', 'True CrashLooping')
  wrong = undefined
  await queue.allEnded(60_000)
  await eventually(() => state()?.canStart === true)
  await settled(t)
})

t.test('a quota is respected, told, and tried again', async (t) => {
  const quota = (jobs: string) => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'jobs', namespace: 'default' },
    spec: { hard: { 'count/jobs.batch': jobs } },
  })
  await want({ keepSeconds: 0 })
  await cluster.kubectl(['delete', 'jobs', '--all'])
  serviceMs = 3000
  await cluster.apply(quota('2'))
  await eventually(async () => {
    const { status } = await cluster.get<{ status?: { used?: object } }>('resourcequota', 'jobs')
    return status?.used !== undefined
  })
  await send(5)
  await eventually(() => state()?.canStart === false && state()?.reason === 'quota')
  await holds(name, 'ScalingLimited', 'True QuotaExceeded')
  t.ok(record.most() <= 2)
  serviceMs = 300
  await queue.allEnded(90_000)
  await cluster.kubectl(['delete', 'resourcequota', 'jobs'])
  await eventually(() => state()?.canStart === true)
  await settled(t)
})

t.test('pods that are refused are told, and come once they may', async (t) => {
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'pods', namespace: 'default' },
    spec: { hard: { pods: '0' } },
  })
  await eventually(async () => {
    const { status } = await cluster.get<{ status?: { used?: object } }>('resourcequota', 'pods')
    return status?.used !== undefined
  })
  await send(1)
  await eventually(() => state()?.reason === 'pods-refused' && state()?.canStart === false, { withinMs: 30_000 })
  await holds(name, 'Degraded', 'True PodsRefused')
  await cluster.kubectl(['delete', 'resourcequota', 'pods'])
  await queue.allEnded(120_000)
  await eventually(() => state()?.canStart === true)
  t.strictSame(queue.endedTwice(), [])
  const ended = new Set(fleet.busyEnds().map(({ pod }) => pod))
  t.equal(ended.size, 1, 'nobody was ended in mid-work but the victim of the test')
})

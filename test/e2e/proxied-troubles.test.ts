import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { proxied, startProxiedCluster } from '#test/helpers/proxied-cluster.ts'

const { name } = proxied
const world = await startProxiedCluster(t)
const { cluster, queue, fleet, life, record, configure, send, state, assertSettled, holds, eventsOf } = world

t.test(
  'proxied troubles: an image that cannot be pulled is reported with its duration until it is corrected',
  async (t) => {
    life.fault = { kind: 'cannot-start', reason: 'ImagePullBackOff', message: 'Back-off pulling image "none"' }
    await send(3)
    await eventually(() => state()?.canStart === false && state()?.reason === 'image-pull')
    await holds(name, 'Degraded', 'True ImagePull')
    await holds(name, 'Ready', 'False WorkersMissing')
    const early = state()?.forMs ?? 0
    await eventually(() => (state()?.forMs ?? 0) > early + 3000)
    t.ok((await eventsOf(name)).some(({ reason, note }) => reason === 'ImagePull' && note.includes('Back-off pulling')))
    t.equal(record.createdNames.size, 3, 'no Jobs besides those that are stuck')
    life.fault = undefined
    await configure({}, { template: { image: 'another' } })
    await queue.allEnded(60_000)
    await eventually(() => state()?.canStart === true)
    await holds(name, 'Degraded', 'False AsExpected')
    await assertSettled(t)
  },
)

t.test('proxied troubles: unschedulable Jobs are reported, and replaced when the template is corrected', async (t) => {
  await configure({}, { template: { nodeSelector: { nowhere: 'here' } } })
  await send(2)
  await eventually(() => state()?.canStart === false && state()?.reason === 'unschedulable')
  await holds(name, 'Degraded', 'True Unschedulable')
  await configure({})
  await queue.allEnded(60_000)
  await eventually(() => state()?.canStart === true)
  t.equal(record.createdNames.size, 4)
  await assertSettled(t)
})

t.test('proxied troubles: Jobs that exit before they claim a capture are recreated with back-off', async (t) => {
  life.fault = { kind: 'ends', exitCode: 1 }
  await send(2)
  await eventually(() => state()?.reason === 'crash-looping' && (state()?.forMs ?? 0) > 4000)
  t.ok(record.createdNames.size >= 3 && record.createdNames.size <= 6, `${record.createdNames.size} Jobs`)
  await holds(name, 'Degraded', 'True CrashLooping')
  life.fault = undefined
  await queue.allEnded(60_000)
  await eventually(() => state()?.canStart === true)
  await assertSettled(t)
})

t.test('proxied troubles: a quota is respected and reported, and creation is retried', async (t) => {
  const quota = (jobs: string) => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'jobs', namespace: 'default' },
    spec: { hard: { 'count/jobs.batch': jobs } },
  })
  await configure({ ttlSecondsAfterFinished: 0 })
  await cluster.kubectl(['delete', 'jobs', '--all'])
  life.serviceMs = 3000
  await cluster.apply(quota('2'))
  await eventually(async () => {
    const { status } = await cluster.get<{ status?: { used?: object } }>('resourcequota', 'jobs')
    return status?.used !== undefined
  })
  await send(5)
  await eventually(() => state()?.canStart === false && state()?.reason === 'quota')
  await holds(name, 'ScalingLimited', 'True QuotaExceeded')
  t.ok(record.most() <= 2)
  life.serviceMs = 300
  await queue.allEnded(90_000)
  await cluster.kubectl(['delete', 'resourcequota', 'jobs'])
  await eventually(() => state()?.canStart === true)
  await assertSettled(t)
})

t.test('proxied troubles: rejected pods are reported, and created when the quota is removed', async (t) => {
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
  t.strictSame(fleet.busyEnds(), [])
})

import t from 'tap'
import { deletionCostAnnotation, fieldOwner, replicasOwner, workersName } from '#shared/kube/names.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startOperatorCluster } from '#test/helpers/operator-cluster.ts'

let serviceMs = 100
const world = await startOperatorCluster(t, { serviceMs: () => serviceMs, startMs: () => 300 })
const { cluster, queue, fleet, operator, applyPool, poolOf, deploymentOf, settles, podsOf, eventsOf } = world
t.afterEach(world.removePools)

const quick = { queueWaitMs: 100 }
const scaleDown = { stabilizationWindowSeconds: 1, periodSeconds: 1 }
const sizeOf = async (name: string) => (await deploymentOf(name)).spec.replicas
const namesOf = async (name: string) => (await podsOf(name)).map(({ metadata }) => metadata.name)
const busy = (count: number) =>
  eventually(() => fleet.workers().filter((worker) => worker.captures().length > 0).length === count, {
    what: `${count} workers are busy`,
  })

t.test(
  'operator size: a backlog scales the pool up by the scale subresource, its end down by drained workers only',
  async (t) => {
    await applyPool('queue', { autoscaling: { ...quick, maxReplicas: 6 }, scaleDown })
    await settles('queue', 1)
    serviceMs = 2000
    await queue.send(12)
    await eventually(async () => (await sizeOf('queue')) === 6, { what: 'the pool has its maximum size' })
    await world.holds('queue', 'ScalingLimited', 'True AtMaximum')
    t.match(await poolOf('queue'), {
      status: { desiredReplicas: 6, reason: String, queue: Number, oldestWaitSeconds: Number },
    })
    const { managedFields } = (await deploymentOf('queue')).metadata
    const sizers = managedFields.filter(({ fieldsV1 }) => 'f:replicas' in (fieldsV1['f:spec'] ?? {}))
    t.match(sizers, [{ manager: replicasOwner, subresource: 'scale' }])
    t.equal(sizers.length, 1)
    await queue.allEnded()
    await settles('queue', 1)
    await world.holds('queue', 'ScalingLimited', 'False WithinBounds')

    t.strictSame(fleet.busyEnds(), [])
    const ends = fleet.ends.filter(({ pod }) => pod.startsWith(workersName('queue')))
    t.equal(ends.length, 5)
    t.ok(
      ends.every(({ state, how }) => state === 'drained' && how === 'stopped'),
      'only drained workers were terminated',
    )
    t.strictSame(queue.endedTwice(), [])
    await world.tells('queue', 'Created', 'ScaledUp', 'Draining', 'ScaledDown')
    const metrics = await operator.metrics()
    t.match(metrics, /^shutterfleet_pool_worker_start_seconds_count\{.*pool="queue".*\} 6$/m)
    t.match(metrics, /^shutterfleet_pool_workers_ended_total\{.*pool="queue",end="expected".*\} 5$/m)
    t.notMatch(metrics, /^shutterfleet_pool_workers_ended_total\{.*pool="queue",end="unexpected".*\} [1-9]/m)
  },
)

t.test('operator size: a scale-down never ends a busy worker', async (t) => {
  await applyPool('kept', { autoscaling: { ...quick, maxReplicas: 4 }, scaleDown })
  serviceMs = 500
  await queue.send(20)
  await eventually(async () => (await sizeOf('kept')) === 4, { what: 'four workers' })
  await queue.allEnded()
  // Longer than the scale-down takes on a slow machine: once it has ended, its worker is as idle as the others.
  serviceMs = 15_000
  await queue.send(1)
  await busy(1)
  const serves = fleet.workers().find((worker) => worker.captures().length > 0)
  await eventually(async () => (await sizeOf('kept')) === 1, { what: 'one worker' })
  await eventually(async () => (await namesOf('kept')).length === 1)
  t.strictSame(await namesOf('kept'), [serves?.spec.pod])
  await queue.allEnded()
  t.strictSame(fleet.busyEnds(), [])
})

t.test('operator size: a schedule in force raises the minimum, and its end lowers it', async (t) => {
  const everyMinute = '* * * * *'
  const leapDay = '0 0 29 2 *'
  const schedule = { start: everyMinute, end: leapDay, timeZone: 'Europe/Berlin', minReplicas: 3 }
  const apply = (change: object) =>
    applyPool('hours', {
      autoscaling: { ...quick, minReplicas: 1, schedules: [{ ...schedule, ...change }] },
      scaleDown,
    })
  await apply({})
  await settles('hours', 3)
  await world.holds('hours', 'Ready', 'True WorkersReady')
  await eventually(async () => (await poolOf('hours')).status?.reason === 'scheduled', { what: 'the reason scheduled' })
  t.match(await poolOf('hours'), { status: { scheduledMinReplicas: 3, desiredReplicas: 3 } })
  await apply({ start: leapDay, end: everyMinute })
  await settles('hours', 1)
  const scheduled = async () => (await poolOf('hours')).status?.scheduledMinReplicas
  await eventually(async () => (await scheduled()) === undefined, { what: 'no schedule in force' })
})

t.test(
  'operator size: an invalid schedule that the API server accepts is reported, and changes nothing else',
  async (t) => {
    const backwards = { start: '0 22-6 * * *', end: '0 7 * * *', timeZone: 'UTC', minReplicas: 4 }
    const apply = (autoscaling: object) => applyPool('typo', { autoscaling: { ...quick, ...autoscaling }, scaleDown })
    await apply({ schedules: [backwards] })
    await world.holds('typo', 'Degraded', 'True InvalidSchedule')
    t.match(await world.conditionOf('typo', 'Degraded'), {
      message: /has no effect: spec\.autoscaling\.schedules\[0\]\.start "0 22-6 \* \* \*": /,
    })
    await world.tells('typo', 'InvalidSchedule')
    await settles('typo', 1)
    await apply({ minReplicas: 2, schedules: [backwards] })
    await settles('typo', 2)
    await world.holds('typo', 'Ready', 'True WorkersReady')
    await apply({ schedules: [{ ...backwards, timeZone: 'Local' }] })
    const message = async () => (await world.conditionOf('typo', 'Degraded'))?.message ?? ''
    await eventually(async () => (await message()).includes('timeZone "Local"'), { what: 'the time zone is named' })
    await apply({ schedules: [] })
    await world.holds('typo', 'Degraded', 'False AsExpected')
  },
)

t.test('operator size: a drained worker that is needed again is kept, and its deletion cost is removed', async (t) => {
  // Without the ReplicaSet controller no pod is deleted, so that drained workers stay.
  await applyPool('again', { autoscaling: { enabled: false }, replicas: 3, scaleDown })
  await settles('again', 3)
  await cluster.kill('kube-controller-manager')
  t.teardown(() => cluster.start('kube-controller-manager'))
  await cluster.kubectl(['scale', 'bp', 'again', '--replicas=2'])
  const marked = async () =>
    (await podsOf('again')).filter(({ metadata }) => metadata.annotations?.[deletionCostAnnotation])
  await eventually(async () => (await marked()).length === 1, { what: 'one pod has a deletion cost' })
  await eventually(async () => (await sizeOf('again')) === 2)
  const before = (await namesOf('again')).toSorted()
  await cluster.kubectl(['scale', 'bp', 'again', '--replicas=3'])
  await eventually(async () => (await sizeOf('again')) === 3)
  await cluster.start('kube-controller-manager')
  await eventually(async () => (await marked()).length === 0, { what: 'no pod has a deletion cost', withinMs: 30_000 })
  await settles('again', 3)
  t.strictSame((await namesOf('again')).toSorted(), before)
})

t.test('operator size: with autoscaling off kubectl scale sets the size; a paused pool does not change', async (t) => {
  await applyPool('fixed', { autoscaling: { enabled: false }, replicas: 1, scaleDown })
  await settles('fixed', 1)
  await world.holds('fixed', 'ScalingActive', 'False AutoscalingOff')
  await cluster.kubectl(['scale', 'bp', 'fixed', '--replicas=3'])
  await settles('fixed', 3)
  await cluster.kubectl(['scale', 'bp', 'fixed', '--replicas=2'])
  await settles('fixed', 2)
  t.match(await poolOf('fixed'), { status: { reason: 'fixed', desiredReplicas: 2 } })

  const patch = (spec: object) =>
    cluster.kubectl(['patch', 'bp', 'fixed', '--type=merge', '-p', JSON.stringify({ spec })])
  await patch({ paused: true })
  await world.holds('fixed', 'ScalingActive', 'False Paused')
  const before = (await namesOf('fixed')).toSorted()
  await patch({ replicas: 4, template: { env: [{ name: 'SHUTTERFLEET_LOG_LEVEL', value: 'warn' }] } })
  await eventually(async () => {
    const { metadata, status } = await poolOf('fixed')
    return status?.observedGeneration === metadata.generation
  })
  t.match(await poolOf('fixed'), { status: { reason: 'paused' } })
  t.strictSame((await namesOf('fixed')).toSorted(), before)
  t.equal(await sizeOf('fixed'), 2)
  await patch({ paused: false })
  // Size and template are set by two loops: four workers may exist before the first is replaced.
  const isReplaced = async () => !(await namesOf('fixed')).some((name) => before.includes(name))
  await eventually(isReplaced, { withinMs: 60_000, what: 'all workers have the new template' })
  await settles('fixed', 4)
  t.strictSame(fleet.busyEnds(), [])
})

t.test('operator size: a worker without heartbeats is replaced if others send heartbeats', async (t) => {
  await applyPool('silent', { autoscaling: { enabled: false }, replicas: 3 })
  await settles('silent', 3)
  const before = await namesOf('silent')
  const [silent = ''] = before
  fleet.injectFault(silent, { kind: 'silent' })
  await eventually(async () => !(await namesOf('silent')).includes(silent), {
    withinMs: 30_000,
    what: 'the silent worker is deleted',
  })
  await settles('silent', 3)
  t.equal((await namesOf('silent')).filter((name) => before.includes(name)).length, 2)
  await world.tells('silent', 'WorkerLost')
  t.match(
    (await eventsOf('silent')).filter(({ reason }) => reason === 'WorkerLost'),
    [{ type: 'Warning', note: new RegExp(silent) }],
  )
})

t.test('operator size: a pool scales to zero after the cooldown, and to one for the next capture', async () => {
  const autoscaling = { ...quick, minReplicas: 0, cooldownSeconds: 10 }
  await applyPool('zero', { autoscaling, scaleDown })
  await settles('zero', 0)
  await world.holds('zero', 'Ready', 'True ScaledToZero')
  serviceMs = 100
  await queue.send(1)
  await queue.allEnded()
  await settles('zero', 1)
  await world.holds('zero', 'Ready', 'True WorkersReady')
  await settles('zero', 0)
})

t.test('operator size: the older of two pools serves their queue, the younger one after its deletion', async (t) => {
  await applyPool('b-older', { autoscaling: quick, scaleDown })
  await settles('b-older', 1)
  await eventually(async () => {
    const { creationTimestamp } = (await poolOf('b-older')).metadata
    return Date.now() - Date.parse(creationTimestamp) > 1100
  })
  await applyPool('a-younger', { autoscaling: quick, scaleDown })
  await world.holds('a-younger', 'Degraded', 'True PoolTaken')
  t.match(await world.conditionOf('a-younger', 'Degraded'), { message: /b-older/ })
  t.match(await poolOf('a-younger'), { status: { reason: 'pool-taken' } })
  await t.rejects(deploymentOf('a-younger'), /not found/)
  await world.tells('a-younger', 'PoolTaken')

  // A pool of fixed size may serve the same queue in addition.
  await applyPool('beside', { autoscaling: { enabled: false }, replicas: 2 })
  await settles('beside', 2)
  await cluster.kubectl(['delete', 'bp', 'b-older'])
  await settles('a-younger', 1)
  await world.holds('a-younger', 'Degraded', 'False AsExpected')
})

t.test(
  'operator size: without backlog reports of the ledger the size is frozen, and the pool reports BacklogUnknown',
  async (t) => {
    await applyPool('deaf', { autoscaling: { ...quick, minReplicas: 2 }, scaleDown })
    await settles('deaf', 2)
    queue.setCounting(false)
    await world.holds('deaf', 'MetricsAvailable', 'False BacklogUnknown')
    await applyPool('deaf', { autoscaling: { ...quick, minReplicas: 1 }, scaleDown })
    await eventually(async () => (await poolOf('deaf')).status?.observedGeneration === 2)
    t.match(await poolOf('deaf'), { status: { reason: 'backlog-unknown', replicas: 2 } })
    t.notOk('queue' in ((await poolOf('deaf')).status ?? {}), 'unknown numbers are omitted')
    queue.setCounting(true)
    await world.holds('deaf', 'MetricsAvailable', 'True MetricsRead')
    await settles('deaf', 1)
    await world.tells('deaf', 'Frozen', 'Thawed')
  },
)

t.test('operator size: replicas have one field manager, all other fields another', async (t) => {
  await applyPool('owners', {})
  await settles('owners', 1)
  const managers = (await deploymentOf('owners')).metadata.managedFields.map(({ manager }) => manager)
  t.strictSame(new Set(managers), new Set([fieldOwner, replicasOwner, 'kube-controller-manager']))
})

import t from 'tap'
import type { WorkerNotice } from '#controller/act/actuator.ts'
import { createPodStarts } from '#controller/operator/pods/pod-starts.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { podObject, type PodParts } from '#test/helpers/kube-objects.ts'

const setUp = (seconds = 0) => {
  const clock = createHandClock()
  clock.freeze(seconds * 1000)
  const notices: WorkerNotice[] = []
  const times = createPodStarts(clock, { nodeProvisionMs: 300_000 })
  const subscription = times.onWorker('web', (notice) => notices.push(notice))
  const follow = (name: string, parts: PodParts = {}, kind: 'added' | 'updated' | 'deleted' = 'updated') =>
    times.follow({ kind, key: `n/${name}`, object: podObject(name, parts) })
  return { clock, times, follow, notices, subscription }
}

t.test('pod starts: a start lasts from the first observation of a pod until it is first ready', async (t) => {
  const { clock, times, follow, notices } = setUp()
  follow('a', { ready: false }, 'added')
  await clock.advance(4000)
  t.equal(times.ageMs(podObject('a')), 4000)
  t.notOk(times.wasReady(podObject('a')))
  follow('a')
  t.ok(times.wasReady(podObject('a')))
  await clock.advance(60_000)
  follow('a', { ready: false })
  follow('a')
  t.strictSame(times.startsOf('web'), { starts: { ready: 1, failed: 0 }, startMs: 4000, provisionMs: undefined })
  t.strictSame(notices, [{ kind: 'ready', pod: 'a', ageMs: 4000 }])
})

t.test('pod starts: a pod that waited for a node does not count for the start latency', async (t) => {
  const { clock, times, follow, notices } = setUp()
  follow('a', { ready: false, unschedulable: 'no room' }, 'added')
  await clock.advance(60_000)
  follow('a', { ready: false })
  t.equal(times.ageMs(podObject('a')), 0, 'the age counts from the node')
  await clock.advance(5000)
  follow('a')
  t.match(times.startsOf('web'), { starts: { ready: 1 }, startMs: undefined, provisionMs: 65_000 })
  t.match(notices, [{ kind: 'ready', ageMs: 5000 }])
  follow('b', { ready: false }, 'added')
  await clock.advance(2000)
  follow('b')
  t.match(times.startsOf('web'), { starts: { ready: 2 }, startMs: 2000, provisionMs: 65_000 })
  t.strictSame(times.startsOf('other'), { starts: { ready: 0, failed: 0 }, startMs: undefined, provisionMs: undefined })
})

t.test('pod starts: an unschedulable pod is in trouble after the provisioning time of a node', async (t) => {
  const { clock, times, follow } = setUp()
  const pod: PodParts = { ready: false, unschedulable: 'no room' }
  follow('a', pod, 'added')
  await clock.advance(300_000)
  t.equal(times.troubleOf(podObject('a', pod)), undefined)
  await clock.advance(1)
  t.strictSame(times.troubleOf(podObject('a', pod)), { trouble: 'unschedulable', message: 'no room' })
})

t.test('pod starts: a new leader counts from when the pod became unschedulable', async (t) => {
  const { times, follow } = setUp(400)
  const pod: PodParts = { ready: false, unschedulable: 'no room', scheduledSince: '2026-01-01T00:01:00Z' }
  follow('a', pod, 'added')
  t.match(times.troubleOf(podObject('a', pod)), { trouble: 'unschedulable' })
})

t.test('pod starts: a pod first seen ready is as old as its timestamp and does not count as a start', async (t) => {
  const { times, follow } = setUp(90)
  follow('a', {}, 'added')
  t.equal(times.ageMs(podObject('a')), 90_000)
  t.ok(times.wasReady(podObject('a')))
  t.equal(times.startsOf('web').starts.ready, 0)
})

t.test('pod starts: a clock that is behind never makes an age negative', async (t) => {
  const { times, follow } = setUp()
  follow('a', {}, 'added')
  t.equal(times.ageMs(podObject('a')), 0)
})

t.test('pod starts: another pod of the same name is a new start', async (t) => {
  const { clock, times, follow } = setUp()
  follow('a', { ready: false }, 'added')
  await clock.advance(4000)
  follow('a', { ready: false }, 'deleted')
  follow('a', { ready: false }, 'added')
  t.equal(times.ageMs(podObject('a')), 0)
})

const creating: PodParts = { ready: false, waiting: { reason: 'ContainerCreating' } }

t.test('pod starts: a start begins when the pod has a node', async (t) => {
  const { clock, times, follow } = setUp()
  const trouble = () => times.troubleOf(podObject('a', creating))?.trouble
  follow('a', { ready: false, unschedulable: 'no room' }, 'added')
  await clock.advance(130_000)
  follow('a', creating)
  await clock.advance(120_000)
  follow('a', creating)
  t.equal(trouble(), undefined)
  await clock.advance(1)
  t.equal(trouble(), 'not-starting')
})

t.test('pod starts: a pod first seen starting has been starting since it got its node', async (t) => {
  const { times, follow } = setUp(151)
  const pod: PodParts = { ...creating, scheduledSince: '2026-01-01T00:00:30Z' }
  follow('a', pod, 'added')
  t.equal(times.troubleOf(podObject('a', pod))?.trouble, 'not-starting')
})

t.test('pod starts: the end of a worker is reported once, with whether its pod was terminating', async (t) => {
  const { clock, follow, notices } = setUp()
  for (const name of ['stopped', 'crashed', 'evicted', 'vanished', 'restarted']) follow(name, {}, 'added')
  await clock.advance(4000)
  follow('stopped', { stopping: true })
  t.strictSame(notices, [], 'the worker may still be running')
  follow('stopped', { stopping: true, ready: false, terminated: { exitCode: 0 } })
  follow('stopped', { stopping: true, ready: false, terminated: { exitCode: 0 } }, 'deleted')
  follow('crashed', { ready: false, terminated: { exitCode: 70 } })
  follow('crashed', { ready: false, waiting: { reason: 'CrashLoopBackOff' } })
  follow('crashed', { restarts: 1 })
  follow('evicted', { phase: 'Failed', ready: false, isStatusUnknown: true })
  follow('vanished', {}, 'deleted')
  follow('restarted', { restarts: 1 })
  const ended = { kind: 'ended', ageMs: Number }
  t.match(notices, [
    { ...ended, pod: 'stopped', isExpected: true, how: 'exit code 0' },
    { ...ended, pod: 'crashed', isExpected: false, how: 'exit code 70' },
    { ...ended, pod: 'evicted', isExpected: false },
    { ...ended, pod: 'vanished', isExpected: false },
    { ...ended, pod: 'restarted', isExpected: false },
  ])
  t.equal(notices.length, 5)
})

t.test('pod starts: a pod that never ran, or of another pool, is not reported, and none after disposal', async (t) => {
  const { follow, notices, subscription } = setUp()
  follow('a', creating, 'added')
  follow('a', creating, 'deleted')
  follow('b', { pool: 'other' }, 'added')
  follow('b', { pool: 'other' }, 'deleted')
  follow('c', {}, 'added')
  subscription[Symbol.dispose]()
  follow('c', {}, 'deleted')
  t.strictSame(notices, [])
})

t.test('pod starts: the starts of a pool are removed with it', async (t) => {
  const { times, follow } = setUp()
  for (const pool of ['web', 'other']) {
    follow(pool, { ready: false, pool }, 'added')
    follow(pool, { pool })
  }
  times.keep(new Set(['web']))
  t.equal(times.startsOf('web').starts.ready, 1)
  t.equal(times.startsOf('other').starts.ready, 0)
})

import t from 'tap'
import { createStartTimes } from '#controller/operator/start-times.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { podObject, type PodParts } from '#test/helpers/kube-objects.ts'

const setUp = (seconds = 0) => {
  const clock = createHandClock()
  clock.freeze(seconds * 1000)
  const heard: [string, string, number][] = []
  const times = createStartTimes(clock, (...of) => heard.push(of))
  const follow = (name: string, parts: PodParts = {}, kind: 'added' | 'updated' | 'deleted' = 'updated') =>
    times.follow({ kind, key: `n/${name}`, object: podObject(name, parts) })
  return { clock, times, follow, heard }
}

t.test('a start lasts from the first sight of a pod until it is ready the first time', async (t) => {
  const { clock, times, follow, heard } = setUp()
  follow('a', { ready: false }, 'added')
  await clock.advance(4000)
  t.equal(times.ageMs(podObject('a')), 4000)
  t.notOk(times.wasReady(podObject('a')))
  follow('a')
  t.ok(times.wasReady(podObject('a')))
  await clock.advance(60_000)
  follow('a', { ready: false })
  follow('a')
  t.strictSame(times.startsOf('web'), { starts: { ready: 1, failed: 0 }, startMs: 4000 })
  t.strictSame(heard, [['web', 'a', 4000]])
})

t.test('the newest start weighs most', async (t) => {
  const { clock, times, follow } = setUp()
  follow('a', { ready: false }, 'added')
  await clock.advance(1000)
  follow('a')
  follow('b', { ready: false }, 'added')
  await clock.advance(2000)
  follow('b')
  t.strictSame(times.startsOf('web'), { starts: { ready: 2, failed: 0 }, startMs: 1300 })
  t.strictSame(times.startsOf('other'), { starts: { ready: 0, failed: 0 }, startMs: undefined })
})

t.test('what is ready at first sight is as old as it says and says nothing of starts', async (t) => {
  const { times, follow } = setUp(90)
  follow('a', {}, 'added')
  t.equal(times.ageMs(podObject('a')), 90_000)
  t.ok(times.wasReady(podObject('a')))
  t.equal(times.startsOf('web').starts.ready, 0)
})

t.test('a clock that is behind makes nothing younger than new', async (t) => {
  const { times, follow } = setUp()
  follow('a', {}, 'added')
  t.equal(times.ageMs(podObject('a')), 0)
})

t.test('another pod of the same name begins anew', async (t) => {
  const { clock, times, follow } = setUp()
  follow('a', { ready: false }, 'added')
  await clock.advance(4000)
  follow('a', { ready: false }, 'deleted')
  follow('a', { ready: false }, 'added')
  t.equal(times.ageMs(podObject('a')), 0)
})

t.test('how it went in a pool is forgotten with the pool', async (t) => {
  const { times, follow } = setUp()
  for (const pool of ['web', 'other']) {
    follow(pool, { ready: false, pool }, 'added')
    follow(pool, { pool })
  }
  times.keep(new Set(['web']))
  t.equal(times.startsOf('web').starts.ready, 1)
  t.equal(times.startsOf('other').starts.ready, 0)
})

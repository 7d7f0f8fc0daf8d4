import { mock } from 'node:test'
import t from 'tap'
import { heartbeatMs } from '#shared/queue/messages.ts'
import { createServiceTime, startHeartbeat, coalesceHeartbeats } from '#worker/lifecycle/heartbeat.ts'

t.test('service time: has no mean before the first capture, then weights newer captures', async (t) => {
  const service = createServiceTime()
  t.equal(service.meanMs(), undefined)
  service.add('normal', 100)
  t.equal(service.meanMs(), 100)
  service.add('bulk', 200)
  t.equal(service.meanMs(), 110)
})

t.test('service time: that of a lane is the mean of its last twenty captures without the longest tenth', async (t) => {
  const service = createServiceTime()
  t.strictSame(service.laneMs(), {})
  service.add('interactive', 700_000)
  t.strictSame(service.laneMs(), { interactive: 600_000 }, 'at most what a heartbeat may report')
  for (const tookMs of [100, 60_000]) service.add('normal', tookMs)
  t.match(service.laneMs(), { normal: 100 })
  for (let capture = 0; capture < 18; capture += 1) service.add('bulk', capture < 9 ? 1000 : 3000)
  for (const tookMs of [60_000, 50_000]) service.add('bulk', tookMs)
  t.match(service.laneMs(), { bulk: 2000 }, 'one page in ten may hang')
  for (let capture = 0; capture < 20; capture += 1) service.add('bulk', 400)
  t.match(service.laneMs(), { bulk: 400 }, 'older captures do not count')
})

/** Mocked timers and clock, from `ms` since the epoch. */
const from = (ms: number) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: ms })
  return { [Symbol.dispose]: () => mock.timers.reset() }
}

t.test('heartbeat: workers that started at different moments publish at the same ones', async (t) => {
  for (const startMs of [10 * heartbeatMs + 1, 10 * heartbeatMs + 700, 11 * heartbeatMs - 60]) {
    using _time = from(startMs)
    const published: number[] = []
    using _beats = startHeartbeat(() => published.push(Date.now()))
    for (let passed = 0; passed < 3 * heartbeatMs; passed += 1) mock.timers.tick(1)
    t.strictSame(published, [11 * heartbeatMs, 12 * heartbeatMs, 13 * heartbeatMs], `from ${startMs}`)
  }
})

t.test('heartbeat: a timer that fires early causes no second heartbeat', async (t) => {
  using _time = from(11 * heartbeatMs - 3)
  const published: number[] = []
  using _beats = startHeartbeat(() => published.push(Date.now()))
  for (let passed = 0; passed < heartbeatMs + 3; passed += 1) mock.timers.tick(1)
  t.strictSame(published, [12 * heartbeatMs])
})

t.test('heartbeat: publishes nothing once disposed', async (t) => {
  using _time = from(10 * heartbeatMs)
  const published: number[] = []
  const heartbeats = startHeartbeat(() => published.push(Date.now()))
  mock.timers.tick(heartbeatMs)
  heartbeats[Symbol.dispose]()
  mock.timers.tick(3 * heartbeatMs)
  t.equal(published.length, 1)
})

t.test('heartbeat: changes within 500 ms are published once, with the last state', async (t) => {
  using _time = from(10 * heartbeatMs)
  const published: number[] = []
  let captures = 0
  using heartbeats = coalesceHeartbeats(() => published.push(captures))
  for (captures = 1; captures <= 3; captures += 1) heartbeats.request()
  mock.timers.tick(499)
  t.strictSame(published, [])
  mock.timers.tick(1)
  t.strictSame(published, [4])
  heartbeats.request()
  mock.timers.tick(500)
  t.equal(published.length, 2, 'a later change is published again')
})

t.test('heartbeat: drops a coalesced heartbeat once disposed', async (t) => {
  using _time = from(10 * heartbeatMs)
  const published: number[] = []
  const heartbeats = coalesceHeartbeats(() => published.push(1))
  heartbeats.request()
  heartbeats[Symbol.dispose]()
  mock.timers.tick(1000)
  t.strictSame(published, [])
})

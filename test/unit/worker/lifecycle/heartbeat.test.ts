import { mock } from 'node:test'
import t from 'tap'
import { createServiceTime } from '#shared/policy/service-time.ts'
import { heartbeatCodec, heartbeatMs } from '#shared/queue/messages.ts'
import { coalesceHeartbeats, publishHeartbeat, startHeartbeat } from '#worker/lifecycle/heartbeat.ts'
import { startLifecycle } from '#worker/lifecycle/lifecycle.ts'

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

t.test('heartbeat: reports the slots, and which of them are reserved', async (t) => {
  const published: Uint8Array[] = []
  const queue = { publish: (_subject: string, data: Uint8Array) => void published.push(data) }
  using lifecycle = startLifecycle(new AbortController().signal, () => {})
  const worker = {
    queue,
    lifecycle,
    pool: 'standard',
    pod: 'a',
    slots: 4,
    reservedSlots: 3,
    browsers: () => [],
  } as const
  publishHeartbeat(worker, createServiceTime())
  t.match(published.map(heartbeatCodec.decode), [{ pod: 'a', slots: 4, reservedSlots: 3, busy: 0 }])
})

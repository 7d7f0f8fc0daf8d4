import t from 'tap'
import { createLoopsHealth } from '#controller/loop/health.ts'

const begin = () => {
  const world = { nowMs: 0, connected: true }
  const of = createLoopsHealth(
    () => world.connected,
    () => world.nowMs,
  )
  return { world, ...of }
}

t.test('health: is ready once all loops have reported ready and NATS is connected', (t) => {
  const { world, follow, health } = begin()
  const first = follow()
  const second = follow()
  first({ ready: true, detail: { queue: 3 } })
  t.equal(health().ready, false)
  second({ ready: true, detail: { jobs: 'unknown' } })
  t.strictSame(health(), { live: true, ready: true, detail: { queue: '3', jobs: 'unknown', connected: 'true' } })
  world.connected = false
  t.match(health(), { live: true, ready: false, detail: { connected: 'false' } })
  world.connected = true
  second({ ready: false, detail: {} })
  t.equal(health().ready, false)
  t.end()
})

t.test('health: keeps the last report while ticks fail', (t) => {
  const { follow, health } = begin()
  const turned = follow()
  turned({ ready: true, detail: { queue: 3 } })
  turned()
  t.match(health(), { ready: true, detail: { queue: '3' } })
  t.end()
})

t.test('health: is not live once a loop has not ticked for thirty seconds', (t) => {
  const { world, follow, health } = begin()
  const first = follow()
  follow()
  world.nowMs = 29_999
  t.equal(health().live, true)
  first()
  world.nowMs = 30_000
  t.equal(health().live, false)
  t.end()
})

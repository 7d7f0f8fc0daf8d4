import t from 'tap'
import { healthOf } from '#controller/loop/health.ts'

const [first, second] = [
  { ready: true, detail: { queue: 3 } },
  { ready: true, detail: { jobs: 'unknown' } },
]

t.test('health: is ready once all pools have reported ready and NATS is connected', async (t) => {
  const healthy = { live: true, connected: true }
  t.equal(healthOf([first, undefined], healthy).ready, false)
  t.strictSame(healthOf([first, second], healthy), {
    live: true,
    ready: true,
    detail: { queue: '3', jobs: 'unknown', connected: 'true' },
  })
  t.match(healthOf([first, second], { live: false, connected: false }), {
    live: false,
    ready: false,
    detail: { connected: 'false' },
  })
  t.equal(healthOf([first, { ...second, ready: false }], healthy).ready, false)
})

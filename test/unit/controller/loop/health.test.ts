import t from 'tap'
import { summarizeHealth } from '#controller/loop/health.ts'

const [first, second] = [
  { ready: true, detail: { queue: 3 } },
  { ready: true, detail: { jobs: 'unknown' } },
]

t.test('health: is ready once all pools have reported ready and NATS is connected', async (t) => {
  const healthy = { live: true, connected: true }
  t.equal(summarizeHealth([first, undefined], healthy).ready, false)
  t.strictSame(summarizeHealth([first, second], healthy), {
    live: true,
    ready: true,
    detail: { queue: '3', jobs: 'unknown', connected: 'true' },
  })
  t.match(summarizeHealth([first, second], { live: false, connected: false }), {
    live: false,
    ready: false,
    detail: { connected: 'false' },
  })
  t.equal(summarizeHealth([first, { ...second, ready: false }], healthy).ready, false)
})

import t from 'tap'
import { measureReplay } from '#test/bench/autoscaler/measure-replay.ts'

t.test('bench autoscaler: a replayed trace is captured in reality and simulated with its measured times', async (t) => {
  const arrivals = Array.from({ length: 6 }, (_, nth) => ({
    atMs: nth * 100,
    serviceMs: 1000,
    lane: 'interactive' as const,
  }))
  const { captures, startMs, serviceMs, real, simulated } = await measureReplay(arrivals)
  t.strictSame([captures, real.length, simulated.length], [6, 6, 6])
  t.ok(startMs > 6000, `workers start in ${startMs} ms, their browsers after six seconds`)
  t.ok(serviceMs > 1000, `a capture takes ${serviceMs} ms, its page one second`)
  t.ok(Math.max(...real) > 1000 && Math.max(...simulated) > 1000, 'the last waits for the first')
})

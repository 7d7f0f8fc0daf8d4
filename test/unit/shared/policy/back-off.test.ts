import t from 'tap'
import { backOffMs } from '#shared/policy/back-off.ts'

t.test('back-off: the wait doubles with each failure, up to a bound', async (t) => {
  const waits = [0, 1, 2, 6, 7, 1000, 5000].map((failures) => backOffMs({ firstMs: 250, lastMs: 30_000 }, failures))
  t.strictSame(waits, [250, 500, 1000, 16_000, 30_000, 30_000, 30_000])
})

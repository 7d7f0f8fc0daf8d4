import t from 'tap'
import { calmMs } from '#controller/operator/run-pool.ts'

t.test(
  'a calm pool is looked at every third tick, at least every five seconds where a tick is not longer',
  async (t) => {
    for (const [tickMs, want] of [
      [100, 300],
      [1000, 3000],
      [2000, 5000],
      [5000, 5000],
      [10_000, 10_000],
    ] as const) {
      t.equal(calmMs(tickMs), want, `${tickMs}`)
    }
  },
)

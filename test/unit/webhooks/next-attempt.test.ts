import t from 'tap'
import { greatestAgeMs, nextAttemptMs } from '#webhooks/next-attempt.ts'

const waits = [30_000, 120_000, 600_000]

// Contract: Schedule
t.test(
  'next attempt: each failed attempt is followed by the next wait of the schedule, and the last one by none',
  async (t) => {
    t.strictSame(
      [1, 2, 3, 4, 5].map((failed) => nextAttemptMs(waits, failed, 0)),
      [30_000, 120_000, 600_000, null, null],
    )
    t.equal(nextAttemptMs([], 1, 0.5), null)
  },
)

// Contract: Schedule
t.test('next attempt: chance adds up to a tenth and takes nothing away', async (t) => {
  t.equal(nextAttemptMs(waits, 1, 1), 33_000)
  t.equal(nextAttemptMs(waits, 1, 0.5), 31_500)
})

t.test('next attempt: a delivery may wait as long as its schedule takes, chance included, and a day', (t) => {
  t.equal(greatestAgeMs([]), 86_400_000)
  t.equal(greatestAgeMs([10_000, 20_000]), 86_433_000)
  t.end()
})

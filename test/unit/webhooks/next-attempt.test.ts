import t from 'tap'
import { maxAgeMs, nextAttemptMs } from '#webhooks/next-attempt.ts'

const waits = [30_000, 120_000, 600_000]

// Contract: Schedule
t.test('next attempt: each failed attempt uses the next wait of the schedule; the last one has none', async (t) => {
  t.strictSame(
    [1, 2, 3, 4, 5].map((failed) => nextAttemptMs(waits, failed, 0)),
    [30_000, 120_000, 600_000, null, null],
  )
  t.equal(nextAttemptMs([], 1, 0.5), null)
})

// Contract: Schedule
t.test('next attempt: jitter adds up to a tenth and subtracts nothing', async (t) => {
  t.equal(nextAttemptMs(waits, 1, 1), 33_000)
  t.equal(nextAttemptMs(waits, 1, 0.5), 31_500)
})

t.test('next attempt: a delivery may be as old as its schedule with jitter, plus a day', (t) => {
  t.equal(maxAgeMs([]), 86_400_000)
  t.equal(maxAgeMs([10_000, 20_000]), 86_433_000)
  t.end()
})

import t from 'tap'
import { maxAgeMs, nextAttemptMs, requestedWaitMs } from '#webhooks/next-attempt.ts'

const waits = [30_000, 120_000, 600_000]

// Contract: Schedule
t.test('next attempt: each failed attempt uses the next wait of the schedule; the last one has none', async (t) => {
  t.strictSame(
    [1, 2, 3, 4, 5].map((failed) => nextAttemptMs(waits, failed, { random: 0 })),
    [30_000, 120_000, 600_000, null, null],
  )
  t.equal(nextAttemptMs([], 1, { random: 0.5 }), null)
})

// Contract: Schedule
t.test('next attempt: jitter adds up to a tenth and subtracts nothing', async (t) => {
  t.equal(nextAttemptMs(waits, 1, { random: 1 }), 33_000)
  t.equal(nextAttemptMs(waits, 1, { random: 0.5 }), 31_500)
})

t.test('next attempt: comes at the later of the schedule and what the receiver requested, while there is one', (t) => {
  t.equal(nextAttemptMs(waits, 1, { random: 0, requestedMs: 90_000 }), 90_000)
  t.equal(nextAttemptMs(waits, 2, { random: 0, requestedMs: 90_000 }), 120_000)
  t.equal(nextAttemptMs(waits, 4, { random: 0, requestedMs: 90_000 }), null)
  t.end()
})

t.test('next attempt: a Retry-After is read as seconds or date, up to an hour', (t) => {
  const now = new Date('2026-12-01T00:00:00Z')
  const cases = {
    '120': 120_000,
    'Tue, 01 Dec 2026 00:02:00 GMT': 120_000,
    '86400': 3_600_000,
    '-1': 0,
    soon: 0,
    '': 0,
  }
  for (const [header, ms] of Object.entries(cases)) t.equal(requestedWaitMs(header, now), ms, header)
  t.equal(requestedWaitMs('Mon, 30 Nov 2026 00:00:00 GMT', now), 0)
  t.equal(requestedWaitMs(undefined, now), 0)
  t.end()
})

t.test('next attempt: a delivery may be as old as its schedule with jitter, plus a day', (t) => {
  t.equal(maxAgeMs([]), 86_400_000)
  t.equal(maxAgeMs([10_000, 20_000]), 86_433_000)
  t.end()
})

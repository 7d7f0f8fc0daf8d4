import t from 'tap'
import { readDuration } from '#cli/command/duration.ts'

t.test('duration: reads seconds, minutes, hours and days', (t) => {
  t.strictSame(
    ['30s', '2m', '1h', '90d'].map((text) => readDuration('expires', text)),
    [30_000, 120_000, 3_600_000, 7_776_000_000],
  )
  t.end()
})

t.test('duration: an invalid duration is reported with its flag', (t) => {
  for (const text of ['', '0s', '1', 's', '1.5h', '-1d', '1w', '36501d', '999999999999d']) {
    t.throws(() => readDuration('expires', text), { message: /^--expires .*: must be a duration/ }, text)
  }
  t.end()
})

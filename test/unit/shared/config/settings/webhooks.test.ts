import t from 'tap'
import { webhookRetries } from '#shared/config/settings/webhooks.ts'

const read = (text: string) => webhookRetries.parse(text)

// Contract: Schedule
t.test('webhook retries: the documented schedules have names, and A is the default', async (t) => {
  const a = { ok: true, value: [30_000, 120_000, 600_000] }
  t.strictSame(read('A'), a)
  t.strictSame(read(webhookRetries.fallback ?? ''), a)
  t.strictSame(read('30s,2m,10m'), a)
  t.strictSame(read('B'), { ok: true, value: [10_000, 60_000, 300_000] })
})

// Contract: Schedule
t.test('webhook retries: a schedule may be a list of up to twenty waits', async (t) => {
  t.strictSame(read('250ms, 1s,24h'), { ok: true, value: [250, 1000, 86_400_000] })
  t.equal(read(Array.from({ length: 20 }, () => '1s').join(',')).ok, true)
  for (const bad of [
    '',
    'C',
    '0s',
    '1',
    '-1s',
    '1s,,2s',
    '25h',
    '1.5s',
    Array.from({ length: 21 }, () => '1s').join(),
  ]) {
    t.equal(read(bad).ok, false, bad)
  }
})

import t from 'tap'
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatExact,
  formatCounted,
  formatHours,
  formatName,
  formatRelative,
  formatShare,
} from '#console/text/format.ts'

t.test('formats: sizes have binary units and at most one decimal', async (t) => {
  const cases = [
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1 KiB'],
    [1536, '1.5 KiB'],
    [156_672, '153 KiB'],
    [5_242_880, '5 MiB'],
    [3_221_225_472, '3 GiB'],
  ] as const
  for (const [bytes, expected] of cases) t.equal(formatBytes(bytes), expected)
})

t.test('formats: durations change their unit at one second and one minute', async (t) => {
  const cases = [
    [0, '0 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [2689, '2.69 s'],
    [60_000, '1 min 0 s'],
    [125_400, '2 min 5 s'],
  ] as const
  for (const [ms, expected] of cases) t.equal(formatDuration(ms), expected)
})

t.test('formats: a share is never rounded up to all', async (t) => {
  t.equal(formatShare(1), '100 %')
  t.equal(formatShare(0.9999), '99.9 %')
  t.equal(formatShare(0), '0 %')
})

t.test('formats: one thing is singular, and whole days are days', async (t) => {
  t.same(
    [0, 1, 1200].map((count) => formatCounted(count, 'capture')),
    ['0 captures', '1 capture', '1,200 captures'],
  )
  t.same([1, 24, 36, 720].map(formatHours), ['1 hour', '24 hours', '36 hours', '30 days'])
})

t.test('formats: times are relative to now, before and after it', async (t) => {
  const nowMs = Date.parse('2026-03-01T12:00:00Z')
  const cases = [
    ['2026-03-01T11:59:55.000000Z', 'now'],
    ['2026-03-01T11:59:15.000000Z', '45 sec. ago'],
    ['2026-03-01T11:57:00.000000Z', '3 min. ago'],
    ['2026-03-01T09:00:00.000000Z', '3 hr. ago'],
    ['2026-02-28T12:00:00.000000Z', 'yesterday'],
    ['2026-03-31T12:00:00.000000Z', 'next mo.'],
  ] as const
  for (const [isoTime, expected] of cases) t.equal(formatRelative(isoTime, nowMs), expected)
})

t.test('formats: the exact time names its zone', async (t) => {
  t.equal(formatExact('2026-03-01T23:30:05.123456Z', 'Europe/Berlin'), '2 Mar 2026, 00:30:05 CET')
  t.equal(formatExact('2026-03-01T23:30:05.123456Z', 'UTC'), '1 Mar 2026, 23:30:05 UTC')
})

t.test('formats: counts and names read as text', async (t) => {
  t.equal(formatCount(12_345), '12,345')
  t.equal(formatName('dns_failed'), 'Dns failed')
  t.equal(formatName('png'), 'Png')
})

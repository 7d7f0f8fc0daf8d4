import t from 'tap'
import { readMoment } from '#gateway/http/read-moment.ts'
import { seeded } from '#test/helpers/seeded.ts'

// Contract: List parameters
t.test('read moment: a date is its first or its last microsecond in UTC', async (t) => {
  t.equal(readMoment('2026-02-28', 'first'), '2026-02-28T00:00:00.000000Z')
  t.equal(readMoment('2026-02-28', 'last'), '2026-02-28T23:59:59.999999Z')
  t.equal(readMoment('2028-02-29', 'first'), '2028-02-29T00:00:00.000000Z')
  t.equal(readMoment('0001-01-01', 'first'), '0001-01-01T00:00:00.000000Z')
  t.equal(readMoment('9999-12-31', 'last'), '9999-12-31T23:59:59.999999Z')
})

// Contract: List parameters
t.test('read moment: a date-time is one microsecond, as either end of a range', async (t) => {
  for (const side of ['first', 'last'] as const) {
    t.equal(readMoment('2026-01-31T12:34:56.123456Z', side), '2026-01-31T12:34:56.123456Z')
    t.equal(readMoment('2026-01-31T12:34:56.7Z', side), '2026-01-31T12:34:56.700000Z')
    t.equal(readMoment('2026-01-31T12:34:56z', side), '2026-01-31T12:34:56.000000Z')
    t.equal(readMoment('2026-01-31t12:34Z', side), '2026-01-31T12:34:00.000000Z')
    t.equal(readMoment('2026-01-31T12:34:56', side), '2026-01-31T12:34:56.000000Z', 'UTC if no offset is given')
  }
})

t.test('read moment: subtracts the offset, and reads a plus that was decoded to a space', async (t) => {
  t.equal(readMoment('2026-01-01T00:30:00.5+02:00', 'first'), '2025-12-31T22:30:00.500000Z')
  t.equal(readMoment('2026-01-01T00:30:00 02:00', 'first'), '2025-12-31T22:30:00.000000Z')
  t.equal(readMoment('2026-01-01T00:30:00-0930', 'first'), '2026-01-01T10:00:00.000000Z')
})

t.test('read moment: rejects dates and times that do not exist, and other formats', async (t) => {
  for (const text of [
    '',
    'today',
    '2026',
    '2026-1-1',
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '0000-01-01',
    '2026-01-01T24:00:00Z',
    '2026-01-01T12:60:00Z',
    '2026-01-01T12:00:60Z',
    '2026-01-01T12',
    '2026-01-01T12:00:00.1234567Z',
    '2026-01-01T12:00:00.Z',
    '2026-01-01T12:00:00+15:00',
    '2026-01-01T12:00:00+01:60',
    '2026-01-01Z',
    '2026-01-01 12:00:00Z',
    ' 2026-01-01',
    '2026-01-01\n',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-00:01',
    '+002026-01-01',
    '1767225600',
    '2026-01-01T12:00:00Z; select 1',
  ]) {
    t.equal(readMoment(text, 'first'), undefined, JSON.stringify(text))
  }
})

t.test('read moment: any result reads as itself', async (t) => {
  const below = seeded(1)
  for (let turn = 0; turn < 500; turn += 1) {
    const second = new Date(below(253_402_300_800) * 1000).toISOString().slice(0, 19)
    const text = `${second}.${String(below(1_000_000)).padStart(6, '0')}Z`
    t.equal(readMoment(text, 'last'), text)
  }
})

import t from 'tap'
import { readMoment } from '#gateway/admin/read-moment.ts'

t.test('a moment is read, and one that no calendar has is refused', async (t) => {
  t.same(readMoment('since', '2026-02-28T23:59:59.5Z', 'a moment'), new Date('2026-02-28T23:59:59.500Z'))
  for (const text of ['2026-02-30T00:00:00Z', '2026-01-01T24:00:00Z', '0000-01-01T00:00:00Z']) {
    const fault = { code: 'VALIDATION_ERROR', details: { since: ['must be a moment'] } }
    t.throws(() => readMoment('since', text, 'a moment'), fault, text)
  }
})

import t from 'tap'
import { bodyReader, readMoment, storedLine } from '#gateway/admin/read-fields.ts'
import { object, text } from '#shared/schema/fields.ts'

const read = bodyReader(object({ name: text(undefined, { maxLength: 3, expected: 'short' }) }))

t.test('read fields: reads valid bodies, and reports all faults of invalid ones at once', async (t) => {
  t.same(read({ name: 'abc' }), { name: 'abc' })
  const errors: [unknown, object][] = [
    [{ name: 'abcd' }, { name: ['must be short'] }],
    [{ more: 1 }, { name: ['is required'], more: ['is not a parameter'] }],
    [JSON.parse('{"name":"a","__proto__":1}'), { ['__proto__']: ['is not a parameter'] }],
    [null, { body: ['must be an object'] }],
    [[], { body: ['must be an object'] }],
  ]
  for (const [body, details] of errors) {
    t.throws(() => read(body), { code: 'VALIDATION_ERROR', details }, JSON.stringify(body))
  }
})

t.test('read fields: rejects text that PostgreSQL cannot store', async (t) => {
  const readText = bodyReader(object({ name: storedLine(1, 3) }))
  t.same(readText({ name: 'ü😀' }), { name: 'ü😀' })
  for (const name of ['', 'abcd', 'a\0', 'a\n', '\ud800', 'a\udc00']) {
    t.throws(() => readText({ name }), { code: 'VALIDATION_ERROR', details: { name: [/^must be a string of 1 to 3/] } })
  }
})

t.test('read fields: reads a date-time, and rejects one that does not exist in the calendar', async (t) => {
  t.same(readMoment('since', '2026-02-28T23:59:59.5Z', 'a moment'), new Date('2026-02-28T23:59:59.500Z'))
  for (const expiry of ['2026-02-30T00:00:00Z', '2026-01-01T24:00:00Z', '0000-01-01T00:00:00Z']) {
    const fault = { code: 'VALIDATION_ERROR', details: { since: ['must be a moment'] } }
    t.throws(() => readMoment('since', expiry, 'a moment'), fault, expiry)
  }
})

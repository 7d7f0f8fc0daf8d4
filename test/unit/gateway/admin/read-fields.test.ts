import t from 'tap'
import { Type } from 'typebox'
import { fieldsReader, line } from '#gateway/admin/read-fields.ts'

const read = fieldsReader(
  Type.Object({ name: Type.String({ maxLength: 3, description: 'short' }) }, { additionalProperties: false }),
)

t.test('bodies that fit are read, and all that is wrong with others is told at once', async (t) => {
  t.same(read({ name: 'abc' }), { name: 'abc' })
  const faults: [unknown, object][] = [
    [{ name: 'abcd' }, { name: ['must be short'] }],
    [{ more: 1 }, { name: ['is required'], more: ['is not a parameter'] }],
    [JSON.parse('{"name":"a","__proto__":1}'), { ['__proto__']: ['is not a parameter'] }],
    [null, { body: ['must be an object'] }],
    [[], { body: ['must be an object'] }],
  ]
  for (const [body, details] of faults) {
    t.throws(() => read(body), { code: 'VALIDATION_ERROR', details }, JSON.stringify(body))
  }
})

t.test('a text that PostgreSQL cannot hold is refused', async (t) => {
  const readText = fieldsReader(Type.Object({ name: line(1, 3) }))
  t.same(readText({ name: 'ü😀' }), { name: 'ü😀' })
  for (const name of ['', 'abcd', 'a\0', 'a\n', '\ud800', 'a\udc00']) {
    t.throws(() => readText({ name }), { code: 'VALIDATION_ERROR', details: { name: [/^must be a text of 1 to 3/] } })
  }
})

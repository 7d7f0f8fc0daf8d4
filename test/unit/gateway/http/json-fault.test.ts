import * as fc from 'fast-check'
import t from 'tap'
import { findJsonFault } from '#gateway/http/json-fault.ts'

t.test('json fault: is found at the first byte that has no use at its place', async (t) => {
  for (const [text, at] of [
    ['{"url": "https://example.com", "width": }', 40],
    ['{"a": 1,}', 8],
    ['{"a" 1}', 5],
    ['[1, 2', 5],
    ['[1 2]', 3],
    ['{"a": abc}', 6],
    ["{'a': 1}", 1],
    ['{"a": "b', 8],
    ['{"a": NaN}', 6],
    ['{"a": 01}', 6],
    ['{} {}', 3],
    ['[1}', 2],
    ['', 0],
    ['{"ü": "\\"}", "b": x}', 19],
  ] as const) {
    t.equal(findJsonFault(Buffer.from(text)), at, text)
    t.throws(() => JSON.parse(text), text)
  }
})

t.test('json fault: a valid text has none before its end, with or without spaces', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.boolean(), (value, isWide) => {
      const json = Buffer.from(JSON.stringify(value, null, isWide ? 2 : 0))
      t.equal(findJsonFault(json), json.length)
    }),
  )
})

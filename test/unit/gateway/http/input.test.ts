import { gzipSync } from 'node:zlib'
import t from 'tap'
import { gatherPlainQuery, isOverstructured, parseJson } from '#gateway/http/input.ts'
import type { AppError } from '#shared/errors/app-error.ts'

const names = ['page', 'from'] as const
const queryErrors = (query: string) => {
  try {
    return gatherPlainQuery(query, names).errors.all() ?? {}
  } catch (error) {
    return (error as AppError).details
  }
}

t.test('query: reads its parameters as text by name', async (t) => {
  t.same(gatherPlainQuery('', names).parameters, {})
  t.same(gatherPlainQuery('page=2&from=2026-01-01T00%3A00%3A00+z', names).parameters, {
    page: '2',
    from: '2026-01-01T00:00:00 z',
  })
  t.same(gatherPlainQuery('page&&from=a=b', names).parameters, { page: '', from: 'a=b' })
})

t.test('query: reports all faults at once, each under its name', async (t) => {
  t.same(queryErrors('page=1&page=2&pgae=3&from=%ff&__proto__=1'), {
    page: ['is given more than once'],
    pgae: ['is not a parameter; did you mean page?'],
    from: ['must be percent-encoded UTF-8'],
    ['__proto__']: ['is not a parameter'],
  })
  t.same(queryErrors('%ff=1'), { query: ['is not a parameter'] })
})

t.test('query: rejects more than 200 pairs', async (t) => {
  t.same(queryErrors('x&'.repeat(201)), { query: ['must have at most 200 pairs'] })
})

const exceeds = (json: string, most: number) => isOverstructured(Buffer.from(json), most)

t.test('input: counts commas, lists and objects, not closing brackets or colons', async (t) => {
  const json = '{"a":[1,2],"b":{}}'
  t.same([exceeds(json, 5), exceeds(json, 4)], [false, true])
  t.equal(exceeds('', 0), false)
})

t.test('input: counts nothing inside a string, however it is escaped', async (t) => {
  for (const text of ['a,[{', String.raw`\",[`, String.raw`\\`, String.raw`\\\",`, '\u{1f600},']) {
    t.equal(exceeds(`{"${text}":"${text}"}`, 1), false, text)
    t.equal(exceeds(`{"${text}":"${text}",}`, 1), true, text)
  }
  t.equal(exceeds('"[[[[', 0), false, 'an unterminated string')
})

t.test('input: invalid JSON is refused with line and column, text that is not UTF-8 as such', async (t) => {
  const refused = (body: Buffer | string, message: string) =>
    t.throws(() => parseJson(Buffer.from(body), 'application/json'), { code: 'BAD_REQUEST', message }, String(body))
  for (const [body, place] of [
    ['{"url": "https://example.com", "width": }', 'line 1 column 41'],
    ['{"a": 1,}', 'line 1 column 9'],
    ['{\n  "ü": "ä",\n  "b": nope\n}', 'line 3 column 8'],
    ['{"a": "\\q"}', 'line 1 column 9'],
    ['{"a": [1, 2', 'line 1 column 12'],
    ['', 'line 1 column 1'],
    ['\ufeff{"a": nope}', 'line 1 column 7'],
    ['"line 7 column 8" nope', 'line 1 column 19'],
    ['{\r\n"ü": "\u{1f600}", nope}', 'line 2 column 12'],
  ] as const)
    refused(body, `The body is not valid JSON at ${place}.`)
  refused(Buffer.from([0x22, 0xff, 0x22]), 'The body is not text in UTF-8.')
  refused(gzipSync('{}'), 'The body is compressed: send it as it is.')
})

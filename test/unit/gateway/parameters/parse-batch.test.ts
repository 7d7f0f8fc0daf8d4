import t from 'tap'
import { parseBatch } from '#gateway/parameters/parse-batch.ts'
import { parseCapture } from '#gateway/parameters/parse-capture.ts'

const rules = { allow: [], hasStealth: true }
const judge = async (input: unknown) => {
  let pauses = 0
  const verdict = await parseBatch(input, rules, {}, async () => {
    pauses += 1
  })
  return { verdict, pauses }
}
const urls = ['https://a.example.com/', 'https://b.example.com/x', 'http://c.test/']

// Contract: Batch request
t.test('parse batch: each capture of a batch equals the capture requested alone', async (t) => {
  const common = { width: 400, css: 'a{}', cookies: [{ name: 'a', value: 'b' }], headers: { X: 'y' }, cache_ttl: 5 }
  const { verdict, pauses } = await judge({ urls, ...common })
  t.ok(verdict.ok)
  t.same(
    verdict.ok && verdict.captures,
    urls.map((url) => parseCapture({ ...common, url }, rules)),
  )
  t.same(verdict.ok && verdict.features, ['headers', 'cookies', 'batch', 'css'], 'in the order of featureNames')
  t.equal(pauses, 2, 'one pause between URLs')
})

t.test('parse batch: reports a common fault once, and a fault of a URL under its index', async (t) => {
  const batchErrors = async (input: unknown) => {
    const { verdict } = await judge(input)
    return verdict.ok ? [] : Object.entries(verdict.errors).map(([name, { length }]) => [name, length])
  }
  t.same(await batchErrors({ urls: ['ftp://a.com/', ...urls, 'nonsense'], height: 1 }), [
    ['height', 1],
    ['urls.0', 1],
    ['urls.4', 1],
  ])
  const cookies = [{ name: 'a', value: 'b', domain: 'example.com' }]
  t.same(await batchErrors({ urls: urls.slice(0, 2), cookies }), [])
  t.same(await batchErrors({ urls, cookies }), [['cookies.0.domain', 1]], 'the domain does not match the last host')
  t.same(await batchErrors({ urls: [], cookies }), [['urls', 1]])
  t.same(await batchErrors({ urls, webhook_url: 'http://a.com/' }), [['webhook_url', 1]])
  t.same(await batchErrors({ urls, response_type: 'json' }), [])
  t.same(await batchErrors({ urls, response_type: 'image' }), [['response_type', 1]])
})

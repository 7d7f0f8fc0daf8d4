import t, { type Test } from 'tap'
import { Readable } from 'node:stream'
import { AppError } from '#shared/errors/app-error.ts'
import { createApp } from '#gateway/app.ts'
import { createTestContext, pendingCapture, testCaller, testKey } from '#test/helpers/gateway-context.ts'

const url = 'https://example.com/'
const bytesMax = 16 * 1024

const start = (t: Test) => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  const post = (payload: string | Readable, path = '/v1/screenshots') =>
    app.inject({
      method: 'POST',
      url: path,
      headers: {
        authorization: `Bearer ${testKey}`,
        'content-type': 'application/json',
        ...(typeof payload !== 'string' && { 'transfer-encoding': 'chunked' }),
      },
      payload,
    })
  return { context, app, post }
}

const padded = (bytes: number) => `{"url":"${url}"${' '.repeat(bytes - url.length - 10)}}`

t.test(
  'create capture: parses a small body before the key is checked, a large one after, and counts each request once',
  async (t) => {
    const { context, post } = start(t)
    const counted = () => [...context.calls.accepted, ...context.calls.tried].map((each) => each.counted)
    t.equal((await post(padded(bytesMax))).statusCode, 202)
    t.same([context.calls.checks, counted()], [0, [false]])
    t.equal((await post(padded(bytesMax + 1))).statusCode, 202)
    t.same([context.calls.checks, counted()], [1, [false, true]])
    t.equal((await post(Readable.from([`{"url":"${url}"}`]))).statusCode, 202, 'a body without Content-Length')
    t.same([context.calls.checks, counted()], [2, [false, true, true]])
    await post(`{"url":"${url}","retina":true${' '.repeat(bytesMax)}}`)
    t.same([context.calls.checks, counted()], [3, [false, true, true, true]])
    t.equal((await post(padded(bytesMax + 1).replace(url, 'nonsense'))).statusCode, 422)
    t.equal(context.calls.checks, 4, 'a request with invalid parameters is counted once too')
  },
)

t.test('create capture: parses a large query only after the key is accepted', async (t) => {
  const { app, context } = start(t)
  const get = (query: string) =>
    app.inject({
      url: `/v1/screenshots/capture?url=${url}&webhook_url=${url}&${query}`,
      headers: { authorization: `Bearer ${testKey}` },
    })
  const rest = bytesMax - `url=${url}&webhook_url=${url}&css=`.length
  t.equal((await get(`css=${'a'.repeat(rest)}`)).statusCode, 422, 'css has at most 10,000 characters')
  t.equal(context.calls.checks, 1, 'a small query is parsed first, and its faults are held back')
  context.answers.accept = () => {
    t.fail('nothing is made of it')
    throw new Error('accepted')
  }
  context.answers.check = () => ({ ok: false, code: 'INVALID_API_KEY' })
  const parse = t.capture(JSON, 'parse')
  t.equal((await get(`headers=[${'1,'.repeat(bytesMax / 2)}1]`)).statusCode, 401)
  t.same(parse.args(), [])
})

t.test('create capture: does not read a large body if the key is rejected', async (t) => {
  const { context, post } = start(t)
  context.answers.check = () => ({ ok: false, code: 'INVALID_API_KEY' })
  let reads = 0
  const endless = new Readable({
    read() {
      reads += 1
      this.push(reads < 1000 ? ' '.repeat(65_536) : null)
    },
  })
  const answer = await post(endless)
  t.equal(answer.statusCode, 401)
  t.ok(reads < 10, `${reads} chunks were read`)
})

t.test('create capture: rejects a body with too many values before it is parsed', async (t) => {
  const { context, post } = start(t)
  const rejection = { error: { code: 'VALIDATION_ERROR', details: { body: ['must have at most 10000 values'] } } }
  for (const body of ['['.repeat(100_000), `{"cookies":[${'1,'.repeat(10_000)}1]}`, `[${'{"a":1},'.repeat(6000)}1]`]) {
    const answer = await post(body)
    t.match([answer.statusCode, answer.json()], [422, rejection], body.slice(0, 20))
  }
  t.equal(
    (await post(JSON.stringify({ html: ',[{"'.repeat(100_000) }))).statusCode,
    202,
    'a source may contain anything',
  )
  t.equal(context.calls.accepted.length, 1)
})

t.test('create capture: an error of the database names the capture that may have been accepted', async (t) => {
  const { context, post } = start(t)
  const failing = (code: 'SERVICE_UNAVAILABLE' | 'SERVER_ERROR') => () => {
    throw new AppError(code)
  }
  context.answers.accept = failing('SERVICE_UNAVAILABLE')
  for (const path of ['/v1/screenshots', '/v1/screenshots/capture']) {
    const answer = await post(`{"url":"${url}"}`, path)
    const id = context.calls.accepted.at(-1)?.id
    t.match(answer.json(), { error: { code: 'SERVICE_UNAVAILABLE', retry_after: 5, screenshot_id: id } })
    t.match(answer.headers, { 'retry-after': '5', 'x-screenshot-id': id })
  }
  for (const accept of [
    failing('SERVER_ERROR'),
    () => ({ ok: false, code: 'QUEUE_FULL', caller: testCaller, retryAfterSeconds: 10 }) as const,
  ]) {
    context.answers.accept = accept
    t.notOk('screenshot_id' in (await post(`{"url":"${url}"}`)).json<{ error: object }>().error)
  }
  context.answers.check = failing('SERVICE_UNAVAILABLE')
  const early = await post(padded(bytesMax + 1))
  t.strictSame(Object.keys(early.json<{ error: object }>().error).toSorted(), [
    'code',
    'doc_url',
    'message',
    'request_id',
    'retry_after',
    'status',
  ])
})

t.test('create capture: the response of a failed capture shows its charge released', async (t) => {
  const { context, app } = start(t)
  context.answers.find = () => ({ ...pendingCapture, status: 'failed', error: { code: 'TIMEOUT', message: 'late' } })
  const usageAfter = async (usage: Partial<(typeof testCaller)['usage']>) => {
    const caller = { ...testCaller, usage: { ...testCaller.usage, ...usage } }
    context.answers.accept = () => ({ ok: true, caller, createdAt: '', admitted: true })
    const { headers } = await app.inject({
      url: `/v1/screenshots/capture?url=${encodeURIComponent(url)}`,
      headers: { authorization: `Bearer ${testKey}` },
    })
    return [headers['x-usage-remaining'], headers['x-usage-overage']]
  }
  t.same(await usageAfter({ remaining: 99 }), ['100', '0'])
  t.same(await usageAfter({ remaining: 0 }), ['1', '0'])
  t.same(await usageAfter({ remaining: 0, overage: 3 }), ['0', '2'])
  t.same(await usageAfter({ limit: null, remaining: null, overagePrice: null }), [undefined, undefined])
})

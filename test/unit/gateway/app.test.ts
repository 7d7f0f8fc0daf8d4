import t, { type Test } from 'tap'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Refusal } from '#shared/db/check-request.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { sealedCodec } from '#shared/queue/messages.ts'
import { open } from '#shared/queue/seal.ts'
import { createApp } from '#gateway/app.ts'
import {
  completedCapture,
  createTestContext,
  pendingCapture,
  testCaller,
  testImage,
  testKey,
} from '#test/helpers/gateway-context.ts'

const authorization = `Bearer ${testKey}`
const url = 'https://example.com/'

const start = (t: Test) => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    app.inject({
      method: 'POST',
      url: path,
      headers: { authorization, 'content-type': 'application/json', ...headers },
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const get = (path: string, headers: Record<string, string> = {}) =>
    app.inject({ method: 'GET', url: path, headers: { authorization, ...headers } })
  return { context, app, post, get }
}

const refuse = (refusal: Omit<Refusal, 'ok'>) => ({ ok: false, caller: testCaller, ...refusal }) as const

t.test('gateway: accepts a create in one round trip to the database and publishes the capture', async (t) => {
  const { context, post } = start(t)
  const answer = await post('/v1/screenshots', { url, full_page: true })
  t.equal(answer.statusCode, 202)
  const { data } = answer.json<{ data: Record<string, unknown> }>()
  t.match(data, { status: 'pending', url, options: { width: 1280, height: 800, format: 'png', full_page: true } })
  t.equal(data['created_at'], pendingCapture.createdAt)
  t.same(context.calls.published, [data['id']])
  t.same([context.calls.accepted.length, context.calls.checks, context.calls.relayWakeups], [1, 0, 0])
  t.match(context.calls.accepted[0], { lane: 'normal', pool: 'standard', budgetMs: 50_000, originHost: null })
  t.equal(answer.headers['location'], `https://shots.example/v1/screenshots/${String(data['id'])}`)
})

t.test('gateway: seals options, token and three upload addresses for the pool', async (t) => {
  const { context, post } = start(t)
  await post('/v1/screenshots', { url, delay: 2, timeout: 5 })
  const [capture] = context.calls.accepted
  if (!capture) return t.fail('nothing was accepted')
  const part = sealedCodec.decode(open([context.openingKeys.standard], capture.id, capture.sealed))
  t.match(part.options, { url, delay: 2, timeout: 5, width: 1280 })
  t.equal(part.puts.length, 3)
  t.match(part.puts[0]?.key, new RegExp(`^captures/2026-06-01T12/${capture.id}/[0-9a-f]{32}$`))
  t.match(part.puts[0]?.url, /seconds=86481$/, 'the longest wait and three budgets of 27 s')
  t.equal(part.token.length, 43)
})

t.test('gateway: leaves a capture that is not admitted to the relay', async (t) => {
  const { context, post } = start(t)
  context.answers.accept = () => ({ ok: true, caller: testCaller, createdAt: '', admitted: false })
  await post('/v1/screenshots', { url })
  t.same([context.calls.published.length, context.calls.relayWakeups], [0, 1])
})

// Contract: Rate headers
t.test(
  'gateway: sends the rate and usage headers of the account with every response to a valid key, errors included',
  async (t) => {
    const { context, post, get } = start(t)
    const limits = {
      'x-ratelimit-limit': '40',
      'x-ratelimit-remaining': '39',
      'x-ratelimit-reset': '1800000000',
      'x-usage-limit': '100',
      'x-usage-remaining': '99',
      'x-usage-reset': '2027-01-01T00:00:00.000000Z',
      'x-usage-overage': '0',
      'x-usage-overage-price': '0.006',
    }
    t.match((await post('/v1/screenshots', { url })).headers, limits)
    t.match((await post('/v1/screenshots', {})).headers, limits)
    t.match((await get('/v1/screenshots/unknown')).headers, limits)
    const usage = { ...testCaller.usage, limit: null, remaining: null, overagePrice: null }
    context.answers.check = () => ({ ok: true, caller: { ...testCaller, rate: null, usage } })
    const { headers } = await get('/v1/screenshots/unknown')
    t.same(
      Object.keys(headers).filter((name) => /^x-(usage|ratelimit)/.test(name)),
      ['x-usage-reset'],
    )
  },
)

t.test('gateway: rejects a missing or malformed key before it reads anything else', async (t) => {
  const { context, app } = start(t)
  for (const [given, message] of [
    [undefined, /is missing: .*`Authorization: Bearer sk_live_…`/],
    ['', /holds no API key: .*`Authorization: Bearer/],
    ['Bearer', /holds no API key/],
    [`Basic ${testKey}`, /holds no API key/],
    ['Bearer sk_live_short', /not complete: .*40 letters/],
    [`Bearer ${testKey}x`, /not complete/],
    [testKey, /`Bearer` is missing before the API key: .*`Authorization: Bearer/],
  ] as const) {
    const headers = given === undefined ? {} : { authorization: given }
    const answer = await app.inject({ method: 'POST', url: '/v1/screenshots', headers, payload: '{' })
    t.match([answer.statusCode, answer.json()], [401, { error: { code: 'INVALID_API_KEY', message } }], String(given))
    t.equal(answer.headers['www-authenticate'], 'Bearer')
  }
  t.same([context.calls.checks, context.calls.accepted.length], [0, 0])
  const lower = await app.inject({ url: '/v1/screenshots/x', headers: { authorization: `bearer ${testKey}` } })
  t.equal(lower.statusCode, 404)
})

// Contract: Order of checks
t.test(
  'gateway: checks route, key, domain, minute, parameters, plan, quota, availability, in this order',
  async (t) => {
    const { context, app, post } = start(t)
    t.equal((await app.inject({ method: 'POST', url: '/v1/nowhere' })).statusCode, 404, 'route before key')
    const wrongMethod = await app.inject({ method: 'DELETE', url: '/v1/screenshots' })
    t.match(wrongMethod.json(), { error: { code: 'METHOD_NOT_ALLOWED', status: 405 } }, 'method before key')

    context.answers.check = () => refuse({ code: 'DOMAIN_NOT_ALLOWED' })
    t.equal((await post('/v1/screenshots', { width: 1 })).statusCode, 403, 'domain before parameters')
    context.answers.check = () => refuse({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 17 })
    const limited = await post('/v1/screenshots', '{')
    t.equal(limited.statusCode, 429, 'minute before parameters')
    t.equal(limited.headers['retry-after'], '17')
    t.match(limited.json(), {
      error: { code: 'RATE_LIMIT_EXCEEDED', status: 429, retry_after: 17, message: /17 seconds/ },
    })

    context.answers.check = () => ({ ok: true, caller: testCaller })
    context.answers.accept = () => refuse({ code: 'FEATURE_NOT_AVAILABLE', grounds: ['stealth'] })
    const stealth = true
    t.equal((await post('/v1/screenshots', { url, stealth, width: 1 })).statusCode, 422, 'parameters before plan')
    const gated = await post('/v1/screenshots', { url, stealth })
    t.same(
      [gated.statusCode, context.calls.tried.length, context.calls.accepted.length],
      [403, 1, 0],
      'plan before availability',
    )
    t.match(gated.json(), { error: { code: 'FEATURE_NOT_AVAILABLE', message: /stealth/ } })
    t.same(context.calls.tried[0]?.features, ['stealth'])

    context.answers.accept = () => ({ ok: true, caller: testCaller, createdAt: '', admitted: false })
    const unavailable = await post('/v1/screenshots', { url, stealth })
    t.equal(unavailable.statusCode, 422, 'availability last')
    t.match(unavailable.json(), { error: { details: { stealth: [/has no full Chromium/] } } })
    t.equal(context.calls.accepted.length, 0, 'nothing is stored for it')

    context.answers.accept = () => refuse({ code: 'USAGE_LIMIT_EXCEEDED' })
    t.equal((await post('/v1/screenshots', { url })).statusCode, 402)
    context.answers.accept = () => refuse({ code: 'QUEUE_FULL', retryAfterSeconds: 10 })
    t.equal((await post('/v1/screenshots', { url })).headers['retry-after'], '10')
    t.same(context.calls.published, [], 'nothing refused is published')
  },
)

// Contract: Validation
t.test('gateway: reports all faults of a request in one response', async (t) => {
  const { context, post } = start(t)
  const answer = await post('/v1/screenshots', { url: 'ftp://x', width: 319, typo: 1 })
  t.equal(answer.statusCode, 422)
  t.match(answer.json(), {
    error: {
      code: 'VALIDATION_ERROR',
      status: 422,
      request_id: String(answer.headers['x-request-id']),
      details: {
        url: ['must be an absolute http or https address'],
        width: ['must be a whole number from 320 to 3840'],
        typo: ['is not a parameter'],
      },
    },
  })
  t.same([context.calls.checks, context.calls.accepted.length], [1, 0])
})

// Contract: 400
t.test('gateway: rejects a body that is not JSON or not an object', async (t) => {
  const { app, post } = start(t)
  for (const body of ['', '{', '{"url":}', '\u0000'])
    t.equal((await post('/v1/screenshots', body)).statusCode, 400, body)
  for (const body of ['null', '[]', '1', '"x"']) {
    const answer = await post('/v1/screenshots', body)
    t.equal(answer.statusCode, 422, body)
    t.match(answer.json(), { error: { details: { body: ['must be a JSON object'] } } })
  }
  const headers = { authorization, 'content-type': 'application/json' }
  const latin1 = await app.inject({
    method: 'POST',
    url: '/v1/screenshots',
    headers,
    payload: Buffer.from([0x22, 0xe9, 0x22]),
  })
  t.equal(latin1.statusCode, 400, 'not UTF-8')
  t.equal(
    (await app.inject({ method: 'POST', url: '/v1/screenshots', headers: { authorization } })).statusCode,
    400,
    'no body',
  )
})

// Contract: 413
// Contract: Sizes
t.test('gateway: reads a body of the maximum size, and rejects one byte more with 413', async (t) => {
  const { post } = start(t)
  const bytes = 7 * 1024 * 1024
  const padded = (total: number) => `{"url":"${url}"${' '.repeat(total - url.length - 10)}}`
  t.equal((await post('/v1/screenshots', padded(bytes))).statusCode, 202)
  const answer = await post('/v1/screenshots', padded(bytes + 1))
  t.match([answer.statusCode, answer.json()], [413, { error: { code: 'PAYLOAD_TOO_LARGE', status: 413 } }])
  const html = '\u0001'.repeat(500_000)
  t.equal((await post('/v1/screenshots', { html })).statusCode, 202, 'the largest source, fully escaped')
})

// Contract: Sizes
t.test('gateway: rejects a query beyond 64 KiB after the key is checked, and suggests POST', async (t) => {
  const { context, get } = start(t)
  const answer = await get(`/v1/screenshots/capture?url=${'a'.repeat(66_000)}`)
  t.match([answer.statusCode, answer.json()], [414, { error: { code: 'URI_TOO_LONG', message: /POST/ } }])
  t.equal(context.calls.checks, 1)
})

// Contract: Sizes
t.test('gateway: responds with the error envelope to a head too large for the HTTP parser', async (t) => {
  const { app } = start(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const send = async (request: string) => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(request)
    return text(socket)
  }
  const long = await send(`GET /v1/screenshots/capture?url=${'a'.repeat(300_000)} HTTP/1.1\r\nHost: x\r\n\r\n`)
  t.match(long, /^HTTP\/1\.1 414 .*"code":"URI_TOO_LONG"/s)
  t.match(long, /access-control-allow-origin: \*/)
  t.match(await send('nonsense\r\n\r\n'), /^HTTP\/1\.1 400 .*"code":"BAD_REQUEST"/s)
})

// Contract: 404 route
t.test('gateway: unknown paths return 404, unknown methods 405 with Allow', async (t) => {
  const { app } = start(t)
  const allow = async (method: 'GET' | 'PUT' | 'DELETE' | 'HEAD' | 'POST', path: string) => {
    const answer = await app.inject({ method, url: path })
    return [answer.statusCode, answer.headers['allow']]
  }
  t.same(await allow('DELETE', '/v1/screenshots'), [405, 'GET, POST, OPTIONS'])
  t.same(await allow('POST', '/v1/account'), [405, 'GET, OPTIONS'])
  t.same(await allow('DELETE', '/api/v1/account/usage'), [405, 'GET, OPTIONS'])
  t.same(await allow('PUT', '/api/v1/screenshots/capture?x=1'), [405, 'GET, POST, OPTIONS'])
  t.same(await allow('HEAD', '/v1/screenshots/capture'), [405, 'GET, POST, OPTIONS'])
  t.same(await allow('DELETE', `/v1/screenshots/${pendingCapture.id}/image`), [405, 'GET, HEAD, OPTIONS'])
  t.same(await allow('DELETE', '/v1/screenshots/capture'), [405, 'GET, POST, OPTIONS'], 'capture is never an id')
  for (const method of ['POST', 'HEAD', 'DELETE'] as const) {
    t.same(await allow(method, '/v1/screenshots/batch/image'), [405, 'GET, OPTIONS'], 'batch is never an id')
  }
  t.same(await allow('POST', '/v1/screenshots/batch/signed-url'), [405, 'GET, OPTIONS'])
  t.same(await allow('PUT', '/v1/screenshots/%62atch'), [405, 'POST, GET, OPTIONS'], 'batch in another spelling')
  t.same(await allow('DELETE', '/v1/screen%73hots/capture'), [405, 'GET, POST, OPTIONS'])
  t.same(await allow('PUT', '/v1/screenshots/x'), [405, 'GET, DELETE, OPTIONS'])
  t.same(await allow('PROPFIND' as 'GET', '/v1/account'), [405, 'GET, OPTIONS'], 'a method of no path')
  for (const path of [
    '/',
    '/v1',
    '/v2/screenshots',
    '/v1/screenshots/a/b',
    '/v1/Screenshots',
    '/v1/screenshots/a/image/',
  ]) {
    t.same(await allow('POST', path), [404, undefined], path)
  }
})

// Contract: CORS
t.test('gateway: allows cross-origin requests, and exposes rate headers and errors to them', async (t) => {
  const { app, get } = start(t)
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/v1/screenshots/capture',
    headers: { origin: 'https://a.com', 'access-control-request-method': 'POST' },
  })
  t.equal(preflight.statusCode, 204)
  t.match(preflight.headers, {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, POST, OPTIONS',
    'access-control-allow-headers': /Authorization/,
  })
  t.equal((await app.inject({ method: 'OPTIONS', url: '/nowhere' })).statusCode, 404)
  const { headers } = await get('/v1/screenshots/x')
  t.equal(headers['access-control-allow-origin'], '*')
  t.match(headers['access-control-expose-headers'], /X-RateLimit-Remaining.*X-Screenshot-Id.*X-Request-Id/)
})

// Contract: Overload
t.test(
  'gateway: returns 503 with Retry-After while the database is unreachable, without hanging and without a 500',
  async (t) => {
    const { context, post, get } = start(t)
    const away = () => {
      throw new AppError('SERVICE_UNAVAILABLE', { message: 'connect ECONNREFUSED 10.0.0.1:5432' })
    }
    context.answers.accept = away
    context.answers.check = away
    for (const answer of [await post('/v1/screenshots', { url }), await get('/v1/screenshots/x')]) {
      t.match(
        [answer.statusCode, answer.json(), answer.headers],
        [503, { error: { code: 'SERVICE_UNAVAILABLE' } }, { 'retry-after': '5' }],
      )
      t.notMatch(answer.body, /ECONNREFUSED/)
    }
  },
)

// Contract: Overload
t.test('gateway: an internal error reveals no details to the client', async (t) => {
  const { context, get } = start(t)
  context.answers.check = () => {
    throw new TypeError('secret internals')
  }
  const answer = await get('/v1/screenshots/x')
  t.match([answer.statusCode, answer.json()], [500, { error: { code: 'SERVER_ERROR', message: 'Internal error.' } }])
})

// Contract: Status record
t.test('gateway: the record holds the fields of its status; only url can be null', async (t) => {
  const { context, get } = start(t)
  const record = async () => (await get(`/v1/screenshots/${completedCapture.id}`)).json<{ data: object }>().data
  t.match(await record(), {
    status: 'completed',
    file_size: testImage.length,
    mime_type: 'image/png',
    processing_time_ms: 1000,
    image_url: `https://shots.example/v1/screenshots/${completedCapture.id}/image`,
    final_url: 'https://user:***@example.com/end',
    options: { quality: 80, device: 'desktop', block_cookies: true, full_page: false },
  })
  context.answers.find = () => ({ ...pendingCapture, url: null })
  t.same(await record(), {
    id: pendingCapture.id,
    status: 'pending',
    url: null,
    options: pendingCapture.options,
    created_at: pendingCapture.createdAt,
  })
  context.answers.find = () => ({ ...pendingCapture, status: 'failed', error: { code: 'TIMEOUT', message: 'late' } })
  t.match(await record(), { status: 'failed', error: { code: 'TIMEOUT', message: 'late' } })
})

import { mock } from 'node:test'
import t from 'tap'
import { Shutterfleet, ShutterfleetError } from '#client/shutterfleet.js'

type SentRequest = { readonly path: string; readonly method: string; readonly headers: Headers }

/** A client whose requests get the responses of a list in order, and its requests. */
const answered = (
  answers: readonly (() => Response)[],
  options: { retries?: number; retryWaitSeconds?: number } = {},
) => {
  const requests: SentRequest[] = []
  const fetch = async (url: string | URL | Request, { method = 'GET', headers = {} }: RequestInit = {}) => {
    requests.push({
      path: new URL(url instanceof Request ? url.url : url).pathname,
      method,
      headers: new Headers(headers),
    })
    const answer = answers[requests.length - 1]
    if (!answer) throw new Error('one request more than expected')
    return answer()
  }
  return {
    requests,
    shots: new Shutterfleet({ baseUrl: 'http://here/', apiKey: 'sk_live_x', fetch, ...options }),
  }
}

const refusal = (status: number, code: string, retryAfter?: number) => () =>
  Response.json(
    { error: { code, message: 'No.', status, request_id: 'r1' } },
    { status, headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) } },
  )
const record = (status: string) => () => Response.json({ data: { id: 'i', status } }, { status: 200 })
const stream = (text: string) => () => new Response(text, { headers: { 'content-type': 'text/event-stream' } })

t.test('typescript client bounds: 429 and 503 are retried with the same key after the Retry-After time', async (t) => {
  const { requests, shots } = answered([
    refusal(429, 'RATE_LIMIT_EXCEEDED', 0),
    refusal(503, 'SERVICE_UNAVAILABLE', 0),
    record('pending'),
  ])
  t.match(await shots.create({ html: 'x' }), { id: 'i' })
  const keys = new Set(requests.map(({ headers }) => headers.get('idempotency-key')))
  t.equal(requests.length, 3)
  t.equal(keys.size, 1)
  t.match([...keys][0], /^[0-9a-f-]{36}$/)
})

for (const [name, answers, options, work] of [
  ['retries at most as often as configured', [429, 429], { retries: 1 }, 'create'],
  ['does not retry if the wait is too long', [429], { retryWaitSeconds: -1 }, 'create'],
  ['does not retry after another error', [422], {}, 'create'],
  ['does not retry a request that is not idempotent', [503], {}, 'webhook'],
] as const) {
  t.test(`typescript client bounds: ${name}`, async (t) => {
    const { requests, shots } = answered(
      answers.map((status) => refusal(status, 'X', 0)),
      options,
    )
    const thrown: unknown = await (
      work === 'create' ? shots.create({ html: 'x' }) : shots.webhooks.create({ url: 'https://x' })
    ).catch((error: unknown) => error)
    t.ok(thrown instanceof ShutterfleetError)
    t.match(thrown, { code: 'X', status: answers[0], requestId: 'r1', retryAfter: 0 })
    t.equal(requests.length, answers.length)
  })
}

const broken = () => {
  throw new TypeError('fetch failed')
}

t.test('typescript client bounds: a broken connection is retried if the request is idempotent', async (t) => {
  const { requests, shots } = answered([broken, record('pending')])
  t.match(await shots.create({ html: 'x' }), { id: 'i' })
  t.equal(new Set(requests.map(({ headers }) => headers.get('idempotency-key'))).size, 1)
  const other = answered([broken])
  await t.rejects(other.shots.webhooks.create({ url: 'https://x' }), { code: 'UNREACHABLE', message: /fetch failed/ })
  t.equal(other.requests.length, 1)
  const single = answered([broken], { retries: 0 })
  await t.rejects(single.shots.usage(), { code: 'UNREACHABLE', message: /fetch failed/ })
})

t.test('typescript client bounds: an unreachable service is an error with its address and the reason', async (t) => {
  const shots = new Shutterfleet({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key', retries: 0 })
  const thrown: unknown = await shots.usage().catch((error: unknown) => error)
  t.ok(thrown instanceof ShutterfleetError)
  t.match(thrown, { code: 'UNREACHABLE', status: undefined, cause: { name: 'TypeError' } })
  t.match((thrown as Error).message, /^The service at http:\/\/127\.0\.0\.1:9 is not reachable: .+/)
  const stopped = AbortSignal.abort()
  await t.rejects(shots.usage({ signal: stopped }), { name: 'AbortError' }, 'an abort of the caller stays one')
})

t.test('typescript client bounds: the message of an error ends with its first detail', async (t) => {
  const details = { width: ['must be at least 320'], height: ['must be at least 200'] }
  const refused = () => Response.json({ error: { code: 'VALIDATION_ERROR', message: 'No.', details } }, { status: 422 })
  await t.rejects(answered([refused]).shots.create({ html: 'x' }), {
    message: 'No. width: must be at least 320',
    details,
  })
})

t.test('typescript client bounds: an unusable address is refused', async (t) => {
  for (const baseUrl of ['here', 'ftp://here', 'http://']) {
    t.throws(() => new Shutterfleet({ baseUrl, apiKey: 'sk_live_x' }), /baseUrl/, baseUrl)
  }
})

t.test('typescript client bounds: an aborted request is not retried', async (t) => {
  const { requests, shots } = answered([refusal(429, 'RATE_LIMIT_EXCEEDED', 30)])
  const gone = new AbortController()
  const work = shots.create({ html: 'x' }, { signal: gone.signal })
  setImmediate(() => gone.abort(new Error('no longer wanted')))
  await t.rejects(work, /no longer wanted/)
  t.equal(requests.length, 1)
})

t.test('typescript client bounds: a response that is not of the service is UNEXPECTED_ANSWER', async (t) => {
  const { shots } = answered([() => new Response('<h1>Bad gateway</h1>', { status: 502 })])
  await t.rejects(shots.usage(), { code: 'UNEXPECTED_ANSWER', status: 502 })
})

t.test(
  'typescript client bounds: a capture that is still running is polled until its image or its error',
  async (t) => {
    const goesOn = () => Response.json({ id: 'i', status: 'pending' }, { status: 202 })
    const image = () => new Response('bytes', { headers: { 'content-type': 'image/png', 'x-screenshot-id': 'i' } })
    const { requests, shots } = answered([goesOn, record('completed'), image])
    t.match(await shots.capture({ html: 'x' }), { id: 'i', contentType: 'image/png' })
    t.strictSame(
      requests.map(({ path }) => path),
      ['/v1/screenshots/capture', '/v1/screenshots/i', '/v1/screenshots/i/image'],
    )
    const failed = () =>
      Response.json({ data: { id: 'i', status: 'failed', error: { code: 'BLOCKED', message: 'b' } } })
    await t.rejects(answered([goesOn, failed]).shots.capture({ html: 'x' }), { code: 'BLOCKED', screenshotId: 'i' })
  },
)

t.test('typescript client bounds: a stream that ends early is resumed after the last event', async (t) => {
  const { requests, shots } = answered([
    stream('retry: 2000\n\nevent: status\nid: pending-3\ndata: {"status":"pending","position":3}\n\n: still here\n\n'),
    stream('event: result\nid: result\ndata: {"id":"i","status":"completed"}\n\n'),
  ])
  const statuses: string[] = []
  for await (const { event } of shots.events('i')) statuses.push(event)
  t.strictSame(statuses, ['status', 'result'])
  t.equal(requests[1]?.headers.get('last-event-id'), 'pending-3')
})

t.test(
  'typescript client bounds: text of an event may contain separators of lines other than the line feed',
  async (t) => {
    const css = 'a\u2028b\u2029c\u0085d'
    const { shots } = answered([stream(`event: result\ndata: ${JSON.stringify({ id: 'i', options: { css } })}\n\n`)])
    for await (const { data } of shots.events('i')) t.match(data, { options: { css } })
  },
)

t.test('typescript client bounds: a stream that is silent is connected anew, and an abort ends the wait', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const silent = () => new Response(new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) }))
  const abort = new AbortController()
  const { requests, shots } = answered([silent, silent])
  const read = (async () => {
    for await (const _ of shots.events('i', { signal: abort.signal })) t.fail('no event was sent')
  })()
  read.catch(() => {})
  const seconds = async (count: number) => {
    for (let second = 0; second < count; second += 1) {
      await new Promise((resume) => setImmediate(resume))
      mock.timers.tick(1000)
    }
    await new Promise((resume) => setImmediate(resume))
  }
  await seconds(44)
  t.equal(requests.length, 1)
  await seconds(4)
  t.equal(requests.length, 2)
  await seconds(45)
  abort.abort(new Error('enough'))
  await t.rejects(read, { message: 'enough' })
})

t.test('typescript client bounds: an event may arrive in pieces, and the result event is the last one', async (t) => {
  const pieces = ['event: res', 'ult\nid: result\nda', 'ta: {"id":"ä"}\n', '\nevent: status\nid: x\ndata: {}\n\n']
  const bytes = pieces.map((piece) => Buffer.from(piece))
  const body = () => new Response(ReadableStream.from(bytes))
  const { shots } = answered([body])
  t.strictSame(await Array.fromAsync(shots.events('i')), [{ event: 'result', data: { id: 'ä' } }])
})

import t from 'tap'
import { Shutterfleet, ShutterfleetError } from '#client/shutterfleet.js'

type Asked = { readonly path: string; readonly method: string; readonly headers: Headers }

/** A client whose requests are answered one by one from a list, and what it asked. */
const answered = (
  answers: readonly (() => Response)[],
  options: { retries?: number; retryWaitSeconds?: number } = {},
) => {
  const asked: Asked[] = []
  const fetch = async (url: string | URL | Request, { method = 'GET', headers = {} }: RequestInit = {}) => {
    asked.push({
      path: new URL(url instanceof Request ? url.url : url).pathname,
      method,
      headers: new Headers(headers),
    })
    const answer = answers[asked.length - 1]
    if (!answer) throw new Error('asked once more than expected')
    return answer()
  }
  return { asked, shots: new Shutterfleet({ baseUrl: 'http://here/', apiKey: 'sk_live_x', fetch, ...options }) }
}

const refusal = (status: number, code: string, retryAfter?: number) => () =>
  Response.json(
    { error: { code, message: 'No.', status, request_id: 'r1' } },
    { status, headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) } },
  )
const record = (status: string) => () => Response.json({ data: { id: 'i', status } }, { status: 200 })
const stream = (text: string) => () => new Response(text, { headers: { 'content-type': 'text/event-stream' } })

t.test(
  'typescript client bounds: 429 and 503 are tried again with the same key, after the time that was named',
  async (t) => {
    const { asked, shots } = answered([
      refusal(429, 'RATE_LIMIT_EXCEEDED', 0),
      refusal(503, 'SERVICE_UNAVAILABLE', 0),
      record('pending'),
    ])
    t.match(await shots.create({ html: 'x' }), { id: 'i' })
    const keys = new Set(asked.map(({ headers }) => headers.get('idempotency-key')))
    t.equal(asked.length, 3)
    t.equal(keys.size, 1)
    t.match([...keys][0], /^[0-9a-f-]{36}$/)
  },
)

for (const [name, answers, options, work] of [
  ['at most as often as asked for', [429, 429], { retries: 1 }, 'create'],
  ['not where the wait is too long', [429], { retryWaitSeconds: -1 }, 'create'],
  ['not after another error', [422], {}, 'create'],
  ['not where a second request could do it twice', [503], {}, 'webhook'],
] as const) {
  t.test(`tried again ${name}`, async (t) => {
    const { asked, shots } = answered(
      answers.map((status) => refusal(status, 'X', 0)),
      options,
    )
    const thrown: unknown = await (
      work === 'create' ? shots.create({ html: 'x' }) : shots.webhooks.create({ url: 'https://x' })
    ).catch((error: unknown) => error)
    t.ok(thrown instanceof ShutterfleetError)
    t.match(thrown, { code: 'X', status: answers[0], requestId: 'r1', retryAfter: 0 })
    t.equal(asked.length, answers.length)
  })
}

t.test('typescript client bounds: a client that has lost interest waits no longer', async (t) => {
  const { asked, shots } = answered([refusal(429, 'RATE_LIMIT_EXCEEDED', 30)])
  const gone = new AbortController()
  const work = shots.create({ html: 'x' }, { signal: gone.signal })
  setImmediate(() => gone.abort(new Error('no longer wanted')))
  await t.rejects(work, /no longer wanted/)
  t.equal(asked.length, 1)
})

t.test('typescript client bounds: an answer of somebody else is an error that says so', async (t) => {
  const { shots } = answered([() => new Response('<h1>Bad gateway</h1>', { status: 502 })])
  await t.rejects(shots.usage(), { code: 'UNEXPECTED_ANSWER', status: 502 })
})

t.test('typescript client bounds: a capture that goes on is followed to its image, or to its error', async (t) => {
  const goesOn = () => Response.json({ id: 'i', status: 'pending' }, { status: 202 })
  const image = () => new Response('bytes', { headers: { 'content-type': 'image/png', 'x-screenshot-id': 'i' } })
  const { asked, shots } = answered([goesOn, record('completed'), image])
  t.match(await shots.capture({ html: 'x' }), { id: 'i', contentType: 'image/png' })
  t.strictSame(
    asked.map(({ path }) => path),
    ['/v1/screenshots/capture', '/v1/screenshots/i', '/v1/screenshots/i/image'],
  )
  const failed = () => Response.json({ data: { id: 'i', status: 'failed', error: { code: 'BLOCKED', message: 'b' } } })
  await t.rejects(answered([goesOn, failed]).shots.capture({ html: 'x' }), { code: 'BLOCKED', screenshotId: 'i' })
})

t.test('typescript client bounds: a stream that ends early goes on after the last event', async (t) => {
  const { asked, shots } = answered([
    stream('retry: 2000\n\nevent: status\nid: pending-3\ndata: {"status":"pending","position":3}\n\n: still here\n\n'),
    stream('event: result\nid: result\ndata: {"id":"i","status":"completed"}\n\n'),
  ])
  const seen: string[] = []
  for await (const { event } of shots.events('i')) seen.push(event)
  t.strictSame(seen, ['status', 'result'])
  t.equal(asked[1]?.headers.get('last-event-id'), 'pending-3')
})

t.test(
  'typescript client bounds: an event that comes in pieces is one event, and one whose stream says no more is the last',
  async (t) => {
    const pieces = ['event: res', 'ult\nid: result\nda', 'ta: {"id":"ä"}\n', '\nevent: status\nid: x\ndata: {}\n\n']
    const bytes = pieces.map((piece) => Buffer.from(piece))
    const body = () => new Response(ReadableStream.from(bytes))
    const { shots } = answered([body])
    t.strictSame(await Array.fromAsync(shots.events('i')), [{ event: 'result', data: { id: 'ä' } }])
  },
)

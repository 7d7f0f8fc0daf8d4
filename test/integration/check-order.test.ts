import t, { type Test } from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createRawClient, rawHead } from '#test/helpers/raw-client.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const url = 'https://example.com/'
const never = 'https://example.com/never'
const wrongKeysMax = 3
const gateway = await startGateway(t, {
  TRUSTED_PROXIES: '127.0.0.0/8',
  KEY_FAILURES_PER_MINUTE: String(wrongKeysMax),
  LIVE_ACCOUNT_MAX: '1',
  LINK_REQUESTS_BURST: '1',
  LINK_REQUESTS_PER_MINUTE: '1',
})
const { database, baseUrl } = gateway
const [free] = defaultPlans
await replacePlans(database, [
  ...defaultPlans,
  { ...free!, slug: 'narrow', screenshots_per_month: 2, rate_limit_per_minute: 1000, max_pending: 1 },
  { ...free!, slug: 'tiny', rate_limit_per_minute: 1 },
  { ...free!, slug: 'three', rate_limit_per_minute: 1000, max_pending: 3, features: ['batch'] },
])
const fleet = startStandInFleet(gateway, ({ options }) =>
  options.url?.startsWith(never) ? 'nothing' : { image: Buffer.from('the bytes of an image') },
)
t.teardown(() => fleet[Symbol.asyncDispose]())
const raw = createRawClient(t, baseUrl)

type Call = { method?: string; body?: string | Buffer; headers?: Record<string, string> }

const newAccount = async (plan: string, domains: string[] = []) => {
  const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan })
  const { key } = await createKey(database, { accountId: id, name: 'key', domains, pepper: testPepper })
  const origin = 'https://example.com'
  const call = (path: string, { method = 'GET', body, headers = {} }: Call = {}) =>
    fetch(`${baseUrl}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, origin, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body }),
    })
  const post = (body: unknown, headers: Record<string, string> = {}, path = '/screenshots') =>
    call(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers })
  const countCaptures = async () => (await database.query('select from capture where account_id = $1', [id])).length
  return { id, key, call, post, countCaptures }
}

type Answer = { data: { id: string }; error: { code: string; message: string; status: number; retry_after: number } }
const json = async (answer: Response) => (await answer.json()) as Answer
const refusal = async (answer: Response) => [answer.status, (await json(answer)).error.code]
const begin = (id: string) =>
  changeCaptures(database, [id], () => ({ change: { attempts: 1, unendedStarts: 1, begins: true } }))

// Contract: Order of checks
t.test('check order: route, key, domain, minute limit and body are checked in this order', async (t) => {
  const wrong = { method: 'POST', body: '{' }
  t.same(await refusal(await fetch(`${baseUrl}/v1/nothing`, wrong)), [404, 'NOT_FOUND'])
  t.same(await refusal(await fetch(`${baseUrl}/v1/screenshots`, { ...wrong, method: 'PUT' })), [
    405,
    'METHOD_NOT_ALLOWED',
  ])
  t.same(await refusal(await fetch(`${baseUrl}/v1/screenshots`, wrong)), [401, 'INVALID_API_KEY'])
  const { call, post } = await newAccount('tiny', ['example.com'])
  const elsewhere = { origin: 'https://evil.example' }
  t.same(await refusal(await post('{', elsewhere)), [403, 'DOMAIN_NOT_ALLOWED'], 'not counted against the minute')
  t.same(await refusal(await post('{')), [400, 'BAD_REQUEST'])
  // A new minute may begin between the two requests.
  await eventually(async () => (await call('/account')).status === 429)
  const large = Buffer.alloc(7 * 1024 * 1024 + 1, 0x20)
  await eventually(async () => {
    const requests = [
      await post('{', elsewhere),
      await post('{'),
      await post({}),
      await call('/screenshots', { method: 'POST', body: large }),
      await call(`/screenshots/capture?url=${'a'.repeat(66_000)}`),
    ]
    t.same(await refusal(requests[0]!), [403, 'DOMAIN_NOT_ALLOWED'])
    const limited = await Promise.all(requests.slice(1).map(refusal))
    return limited.every(([status, code]) => status === 429 && code === 'RATE_LIMIT_EXCEEDED')
  })
})

// Contract: Order of checks
t.test('check order: body, feature, replay, cache, queue bound and quota are checked in this order', async (t) => {
  const { id: accountId, call, post, countCaptures } = await newAccount('narrow')
  const a = { 'idempotency-key': 'a' }
  const b = { 'idempotency-key': 'b' }
  const cached = { url, cache_ttl: 600 }
  const first = (await json(await post(cached, a))).data
  await (await call(`/screenshots/${first.id}?wait=30`)).text()
  const second = (await json(await post({ url: never }, b))).data
  const usage = () =>
    database.query('select (reserved + settled)::integer as used from usage where account_id = $1', [accountId])
  t.same([await countCaptures(), await usage()], [2, [{ used: 2 }]], 'now neither quota nor room is left')

  const html = '<p>'
  const large = Buffer.alloc(7 * 1024 * 1024 + 1, 0x20)
  const long = `/screenshots/capture?html=${'a'.repeat(66_000)}`
  t.same(await refusal(await post(`{"html":"${html}"`, a)), [400, 'BAD_REQUEST'])
  t.same(await refusal(await call('/screenshots', { method: 'POST', body: large })), [413, 'PAYLOAD_TOO_LARGE'])
  t.same(await refusal(await call(long)), [414, 'URI_TOO_LONG'])
  t.same(await refusal(await post({ html, width: 1 }, a)), [422, 'VALIDATION_ERROR'])
  t.same(await refusal(await post({ html }, a)), [403, 'FEATURE_NOT_AVAILABLE'])
  t.same(await refusal(await post({ urls: [url] }, a, '/screenshots/batch')), [403, 'FEATURE_NOT_AVAILABLE'])
  t.same(await refusal(await post({ ...cached, width: 400 }, a)), [422, 'IDEMPOTENCY_MISMATCH'])
  for (const [sent, key, expected] of [
    [cached, a, first],
    [{ url: never }, b, second],
  ] as const) {
    const replay = await post(sent, key)
    t.same([replay.status, replay.headers.get('idempotent-replayed')], [202, 'true'])
    t.equal((await json(replay)).data.id, expected.id)
  }
  t.same([await countCaptures(), await usage()], [2, [{ used: 2 }]], 'a replay is neither stored nor charged')
  const hit = await post(cached)
  t.same([hit.status, hit.headers.get('x-cache')], [202, 'HIT'])
  t.same([await countCaptures(), await usage()], [3, [{ used: 2 }]], 'a hit is stored and not charged')
  t.same(await refusal(await post({ url, width: 400 })), [429, 'QUEUE_FULL'])
  await begin(second.id)
  t.same(await refusal(await post({ url, width: 400 })), [402, 'USAGE_LIMIT_EXCEEDED'])

  t.equal((await call(`/screenshots/${second.id}`, { method: 'DELETE' })).status, 204)
  t.same(await refusal(await post({ url: never }, b)), [402, 'USAGE_LIMIT_EXCEEDED'], 'its key is free again')
  await database.query(`update plan set screenshots_per_month = 3 where slug = 'narrow'`)
  const anew = await post({ url: never, width: 400 }, b)
  t.same([anew.status, anew.headers.get('idempotent-replayed')], [202, null])
  t.not((await json(anew)).data.id, second.id)
})

const isHeld = async (t: Test, answer: Response, code: string) => {
  const { error } = await json(answer)
  const seconds = Number(answer.headers.get('retry-after'))
  t.match(error, { code, message: /.{10}/, status: 429, retry_after: seconds }, code)
  t.ok(Number.isInteger(seconds) && seconds >= 1, `${code} ${seconds}`)
  t.equal(answer.status, 429)
}

// Contract: Too much waiting
t.test('check order: an account may have max_pending captures waiting, until one of them begins', async (t) => {
  const { post, countCaptures } = await newAccount('three')
  const ids = []
  for (let created = 0; created < 3; created += 1)
    ids.push((await json(await post({ url: `${never}/${created}` }))).data.id)
  await isHeld(t, await post({ url: never }), 'QUEUE_FULL')
  await isHeld(t, await post({ url: never }, {}, '/screenshots/capture'), 'QUEUE_FULL')
  t.equal(await countCaptures(), 3, 'nothing is stored')
  await begin(ids[0]!)
  await isHeld(t, await post({ urls: [never, `${never}/x`] }, {}, '/screenshots/batch'), 'QUEUE_FULL')
  t.equal((await post({ url: never })).status, 202)
  await isHeld(t, await post({ url: never }), 'QUEUE_FULL')
  const bounds = await database.query('select distinct max_pending as bound from plan where slug = any ($1)', [
    defaultPlans.map(({ slug }) => slug),
  ])
  t.same(bounds, [{ bound: 10_000 }], 'the default of a plan')
})

// Contract: 429 body
t.test('check order: every 429 has a code, a message, its status and the seconds to wait', async (t) => {
  const tiny = await newAccount('tiny')
  let limited = await tiny.call('/account')
  await eventually(async () => (limited = await tiny.call('/account')).status === 429)
  await isHeld(t, limited, 'RATE_LIMIT_EXCEEDED')
  // The gateway caches the refusal, for the second that follows.
  let again = await tiny.post({ url })
  await eventually(async () => (again = await tiny.post({ url })).status === 429)
  await isHeld(t, again, 'RATE_LIMIT_EXCEEDED')

  const { call, post } = await newAccount('unlimited')
  const { id } = (await json(await post({ url: never }))).data
  const stream = await call(`/screenshots/${id}/events`)
  await isHeld(t, await call(`/screenshots/${id}/events`), 'RATE_LIMIT_EXCEEDED')
  await stream.body?.cancel()
  const link = (await (await post({}, {}, `/screenshots/${id}/signed-url`)).json()) as { data: { url: string } }
  t.equal((await fetch(link.data.url)).status, 404)
  await isHeld(t, await fetch(link.data.url), 'RATE_LIMIT_EXCEEDED')
})

// Contract: 429 body
// Contract: Absolute addresses
t.test('check order: behind a trusted proxy, wrong keys are limited per client address', async (t) => {
  const { key } = await newAccount('unlimited')
  const from = (client: string, apiKey: string) =>
    fetch(`${baseUrl}/v1/account`, { headers: { authorization: `Bearer ${apiKey}`, 'x-forwarded-for': client } })
  const guess = (n: number) => `sk_live_${String(n).padStart(40, '0')}`
  for (let n = 0; n < wrongKeysMax; n += 1) t.equal((await from('198.51.100.7', guess(n))).status, 401)
  await isHeld(t, await from('198.51.100.7', guess(99)), 'RATE_LIMIT_EXCEEDED')
  await isHeld(t, await from('203.0.113.1, 198.51.100.7', guess(98)), 'RATE_LIMIT_EXCEEDED')
  t.equal((await from('198.51.100.7', key)).status, 200, 'a valid key is accepted from an address that guesses keys')
  t.equal(
    (await from('198.51.100.7, 203.0.113.1', guess(99))).status,
    401,
    'entries that the client itself wrote are ignored',
  )
  t.equal((await from('203.0.113.9', key)).status, 200)
})

// Contract: 400
t.test('check order: a body that is not JSON by content type and syntax is a 400', async (t) => {
  const { key, call, post } = await newAccount('unlimited')
  const { id } = (await json(await post({ url: never }))).data
  const hook = (await json(await post({ url: 'https://hooks.example.com/' }, {}, '/webhooks'))).data
  const bodies: Record<string, [right: object, wrong: object]> = {
    'POST /screenshots': [{ url: never }, { url: never, width: 1 }],
    'POST /screenshots/capture': [
      { url, response_type: 'json' },
      { url, width: 1 },
    ],
    'POST /screenshots/batch': [{ urls: [never] }, { urls: [] }],
    [`POST /screenshots/${id}/signed-url`]: [{ expires_in: 1 }, { expires_in: -1 }],
    'POST /webhooks': [{ url: 'https://hooks.example.com/' }, { url: 'nothing' }],
    [`PATCH /webhooks/${hook.id}`]: [{ description: 'x' }, { description: 1 }],
  }
  for (const [operation, [right, wrong]] of Object.entries(bodies)) {
    const send = async (body: string, ...types: string[]) => {
      const own = ['Host: shots.example', `Authorization: Bearer ${key}`, `Content-Length: ${Buffer.byteLength(body)}`]
      const line = operation.replace(' ', ' /v1')
      const answer = await raw.send(rawHead(line, [...own, ...types.map((type) => `Content-Type:${type}`)]), body)
      const { error } = JSON.parse(answer?.body ?? '{}') as Partial<Answer>
      return [answer?.status, error?.code]
    }
    const [good, bad] = [JSON.stringify(right), JSON.stringify(wrong)]
    for (const body of ['{', '{"a":}', `${good}}`, "{'url':1}", ' '])
      t.same(await send(body, 'application/json'), [400, 'BAD_REQUEST'], `${operation} ${body}`)
    for (const types of [
      [],
      [''],
      ['text/plain'],
      ['application/jsonp'],
      ['application/json, text/html'],
      [' ;application/json'],
    ])
      for (const body of [good, bad])
        t.same(await send(body, ...types), [400, 'BAD_REQUEST'], `${operation} ${types.join()}`)
    for (const type of [
      'APPLICATION/Json',
      '  application/json\t',
      'application/json\t;charset=utf-8',
      'application/json;a=b;c',
    ])
      t.same(await send(bad, type), [422, 'VALIDATION_ERROR'], `${operation} ${type}`)
    t.ok([200, 202].includes(Number((await send(good, 'Application/JSON ; charset=UTF-8'))[0])), operation)
  }
  t.equal((await call(`/webhooks/${hook.id}`)).status, 200)
})

// Contract: Sizes
// Contract: 413
t.test(
  'check order: a head of 64 KiB and the largest body of an operation are accepted, and one byte more is refused',
  async (t) => {
    const { key } = await newAccount('unlimited')
    const kib = 1024
    const head = (line: string, bytes: number, ...more: string[]) => {
      const headers = ['Host: shots.example', `Authorization: Bearer ${key}`, ...more]
      const filled = (much: number) => rawHead(line, [...headers, `X-Much: ${'x'.repeat(much)}`])
      return filled(bytes - filled(0).length)
    }
    const query = (bytes: number) => {
      const filled = (much: number) =>
        rawHead(`GET /v1/screenshots?nothing=${'x'.repeat(much)}`, [
          'Host: shots.example',
          `Authorization: Bearer ${key}`,
        ])
      return filled(bytes - filled(0).length)
    }
    const sendForStatus = async (...parts: (string | Buffer)[]) => (await raw.send(...parts))?.status
    for (const [line, status] of [
      ['GET /v1/account', 200],
      ['GET /v1/screenshots/x', 404],
    ] as const) {
      t.equal(await sendForStatus(head(line, 64 * kib)), status, line)
      t.equal(await sendForStatus(head(line, 64 * kib + 1)), 414, line)
    }
    t.equal(await sendForStatus(query(64 * kib)), 422)
    const long = await raw.send(query(64 * kib + 1))
    t.match(JSON.parse(long?.body ?? ''), { error: { code: 'URI_TOO_LONG', status: 414, message: /\bPOST\b/ } })
    for (const [path, most] of [
      ['/v1/screenshots', 7 * kib * kib],
      ['/v1/screenshots/batch', 7 * kib * kib],
      ['/v1/webhooks', 64 * kib],
    ] as const) {
      const send = (bytes: number) => {
        const more = ['Content-Type: application/json', `Content-Length: ${bytes}`]
        return raw.send(head(`POST ${path}`, 1000, ...more), `{}${' '.repeat(bytes - 2)}`)
      }
      t.equal((await send(most))?.status, 422, path)
      const refused = await send(most + 1)
      t.match(JSON.parse(refused?.body ?? ''), { error: { code: 'PAYLOAD_TOO_LARGE', status: 413 } }, path)
      t.equal(refused?.status, 413, path)
    }
  },
)

import t, { type Test } from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import type { Operation } from '#gateway/operations/operation.ts'
import { prefixes, routes } from '#gateway/routes.ts'
import { bodyOf } from '#test/helpers/body-of.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createRawClient, rawHead } from '#test/helpers/raw-client.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const image = Buffer.from('the bytes of an image')
const url = 'https://example.com/'
const unknown = '99999999-9999-4999-8999-999999999999'
const gateway = await startGateway(t, { PUBLIC_URL: 'https://shots.example' })
const { database, baseUrl } = gateway
const [free, starter] = defaultPlans
await replacePlans(database, [
  ...defaultPlans,
  { ...starter!, slug: 'priced', rate_limit_per_minute: 1000, screenshots_per_month: 500 },
  { ...starter!, slug: 'plain', rate_limit_per_minute: 1000, screenshots_per_month: 5, overage_price: null },
  { ...free!, slug: 'tiny', rate_limit_per_minute: 1 },
])
const fleet = startStandInFleet(gateway, () => ({ image }))
t.teardown(() => fleet[Symbol.asyncDispose]())
const raw = createRawClient(t, baseUrl)

type Call = { method?: string; body?: string | Buffer; headers?: Record<string, string> }

const newAccount = async (plan: string, domains: string[] = []) => {
  const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan })
  const { key } = await createKey(database, { accountId: id, name: 'key', domains, pepper: testPepper })
  const call = (path: string, { method = 'GET', body, headers = {} }: Call = {}) =>
    fetch(baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    })
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(path, { method: 'POST', body: JSON.stringify(body), headers })
  const create = async () => {
    const answer = await post('/v1/screenshots', { url })
    return ((await answer.json()) as { data: { id: string } }).data.id
  }
  return { id, key, call, post, create }
}
type Account = Awaited<ReturnType<typeof newAccount>>

/** Sends a request for an operation of `routes`, with the same id in all places of its path. */
const askFor = ({ call }: Pick<Account, 'call'>, { name, method, path }: Operation, id: string, prefix = '/v1') =>
  call(prefix + path.replaceAll(/:\w+/g, id), {
    method,
    ...(['POST', 'PATCH'].includes(method) && {
      body: JSON.stringify(name === 'link_create' ? { parameters: {} } : {}),
    }),
    headers: { 'x-request-id': 'same' },
  })

const open = ['openapi', 'docs']
/** A link that captures is not identified by a key: its viewers learn no limits of the account. */
const signed = ['render', 'render_head']
const keyed: readonly Operation[] = routes.filter(({ name }) => ![...open, ...signed].includes(name))
const named = (headers: Headers) => [...headers.keys()].filter((name) => /^x-(usage|ratelimit)-/.test(name)).toSorted()
const rateNames = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
const usageNames = ['x-usage-limit', 'x-usage-remaining', 'x-usage-reset']
const overageNames = ['x-usage-overage', 'x-usage-overage-price']

// Contract: Path prefix
t.test('answer headers: every operation responds alike under both prefixes, and under no other', async (t) => {
  const account = await newAccount('unlimited')
  for (const route of routes) {
    const [one, other] = await Promise.all(prefixes.map((prefix) => askFor(account, route, unknown, prefix)))
    t.equal(other?.status, one?.status, route.name)
    t.equal(await bodyOf(other!), await bodyOf(one!), route.name)
    for (const prefix of ['', '/api', '/v2', '/api/v2', '/V1']) {
      t.equal((await askFor(account, route, unknown, prefix)).status, 404, prefix + route.path)
    }
  }
  t.same(prefixes, ['/v1', '/api/v1'])
})

/** One request for each status, by an account whose first capture has ended. */
const answersOf = async ({ call, post }: Account, id: string): Promise<[number, Response][]> => {
  const path = `/v1/screenshots/${id}/image`
  const etag = (await call(path)).headers.get('etag') ?? ''
  const large = { method: 'POST', body: Buffer.alloc(7 * 1024 * 1024 + 1, 0x20) }
  return [
    [200, await call('/v1/screenshots')],
    [200, await post('/v1/screenshots/capture', { url })],
    [202, await post('/v1/screenshots', { url })],
    [206, await call(path, { headers: { range: 'bytes=0-3' } })],
    [304, await call(path, { headers: { 'if-none-match': etag } })],
    [400, await call('/v1/screenshots', { method: 'POST', body: '{' })],
    [403, await post('/v1/screenshots', { url, geolocation: { latitude: 1, longitude: 1 } })],
    [404, await call('/v1/screenshots/x')],
    [413, await call('/v1/screenshots', large)],
    [414, await call(`/v1/screenshots/capture?url=${'a'.repeat(66_000)}`)],
    [416, await call(path, { headers: { range: 'bytes=9000-' } })],
    [422, await post('/v1/screenshots', {})],
    [204, await call(`/v1/screenshots/${id}`, { method: 'DELETE' })],
  ]
}

const ended = async ({ call, create }: Account) => {
  const id = await create()
  await (await call(`/v1/screenshots/${id}?wait=30`)).text()
  return id
}

// Contract: Rate headers
t.test(
  'answer headers: every authenticated response has the rate and usage headers that its plan has, and no others',
  async (t) => {
    const plain: readonly string[] = [...rateNames, ...usageNames]
    const documented: Readonly<Record<string, readonly string[]>> = {
      plain,
      priced: [...plain, ...overageNames],
      unlimited: ['x-usage-reset'],
    }
    for (const [plan, names] of Object.entries(documented)) {
      const account = await newAccount(plan)
      for (const [status, { headers, status: actual }] of await answersOf(account, await ended(account))) {
        if (plan === 'unlimited' && status === 403) continue
        t.same([actual, named(headers)], [status, names.toSorted()], `${plan} ${status}`)
      }
      for (const route of keyed) {
        const answer = await askFor(account, route, unknown)
        t.same(named(answer.headers), names.toSorted(), `${plan} ${route.name}`)
        await bodyOf(answer)
      }
    }
    const bound = await newAccount('plain', ['example.com'])
    const elsewhere = await bound.call('/v1/account')
    t.same([elsewhere.status, named(elsewhere.headers)], [403, plain.toSorted()])
    const none = await fetch(`${baseUrl}/v1/account`)
    t.same([none.status, named(none.headers)], [401, []])
  },
)

// Contract: Rate headers
t.test('answer headers: the reported limits are those in force', async (t) => {
  const { call, post } = await newAccount('priced')
  const tell = ({ headers }: Response) => Object.fromEntries(named(headers).map((name) => [name, headers.get(name)]))
  const month = new Date()
  const next = new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1)).toISOString().replace('Z', '000Z')
  const first = await post('/v1/screenshots', { url })
  t.match(tell(first), {
    'x-ratelimit-limit': '1000',
    'x-usage-limit': '500',
    'x-usage-remaining': '499',
    'x-usage-reset': next,
    'x-usage-overage': '0',
    'x-usage-overage-price': '0.009',
  })
  const reset = Number(first.headers.get('x-ratelimit-reset'))
  t.ok(Number.isInteger(reset) && reset % 60 === 0 && Math.abs(reset - Date.now() / 1000) <= 60, String(reset))
  const remaining = async () => Number((await call('/v1/account')).headers.get('x-ratelimit-remaining'))
  // The count restarts if a minute ends between two requests.
  await eventually(async () => (await remaining()) - 1 === (await remaining()))

  const plain = await newAccount('plain')
  for (let created = 0; created < 5; created += 1) t.equal((await plain.post('/v1/screenshots', { url })).status, 202)
  const refused = await plain.post('/v1/screenshots', { url })
  t.match([refused.status, tell(refused)], [402, { 'x-usage-limit': '5', 'x-usage-remaining': '0' }])
  t.notOk(overageNames.some((name) => refused.headers.has(name)))

  const tiny = await newAccount('tiny')
  let limited = await tiny.call('/v1/account')
  await eventually(async () => (limited = await tiny.call('/v1/account')).status === 429)
  t.match(tell(limited), { 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0', 'x-usage-remaining': '200' })
})

const isImage = (t: Test, { headers }: Response, id: string, cache = 'MISS') => {
  t.match(Object.fromEntries(headers), {
    'content-type': 'image/png',
    'x-screenshot-id': id,
    'x-cache': cache,
    'x-target-status': '200',
    etag: /^"[0-9a-f]{64}"$/,
    'content-disposition': `inline; filename="${id}.png"`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  })
}

// Contract: Image response
// Contract: Success statuses
t.test('answer headers: an image has the same headers from every operation that returns it', async (t) => {
  const { call, post, create, id: accountId } = await newAccount('unlimited')
  const count = async () => (await database.query('select from capture where account_id = $1', [accountId])).length
  const created = [
    await call(`/v1/screenshots/capture?url=${url}`),
    await post('/v1/screenshots/capture', { url }),
    await post('/v1/screenshots', { url, response_type: 'image', cache_ttl: 60 }),
  ]
  for (const answer of created) {
    const id = answer.headers.get('x-screenshot-id') ?? ''
    isImage(t, answer, id)
    t.same([answer.status, Buffer.from(await answer.arrayBuffer())], [200, image])
    const record = (await (await call(`/v1/screenshots/${id}`)).json()) as { data: { status: string } }
    t.equal(record.data.status, 'completed', 'its record exists')
  }
  t.equal(await count(), 3)
  const hit = await post('/v1/screenshots/capture', { url, cache_ttl: 60 })
  isImage(t, hit, hit.headers.get('x-screenshot-id') ?? '', 'HIT')
  t.same([await count(), hit.headers.get('etag')], [4, created[2]?.headers.get('etag')], 'a hit has a record too')

  const id = await create()
  await (await call(`/v1/screenshots/${id}?wait=30`)).text()
  const path = `/v1/screenshots/${id}/image`
  const link = (await (await post(`/v1/screenshots/${id}/signed-url`, {})).json()) as { data: { url: string } }
  const linked = link.data.url.replace('https://shots.example', baseUrl)
  for (const whole of [await call(path), await fetch(linked)]) {
    isImage(t, whole, id)
    t.same([whole.status, Buffer.from(await whole.arrayBuffer())], [200, image])
  }
  const head = await call(path, { method: 'HEAD' })
  isImage(t, head, id)
  t.same([head.status, head.headers.get('content-length')], [200, String(image.length)])
  const part = await call(path, { headers: { range: 'bytes=4-8' } })
  isImage(t, part, id)
  t.same([part.status, await part.text()], [206, image.subarray(4, 9).toString()])
  t.equal(part.headers.get('content-range'), `bytes 4-8/${image.length}`)
  const none = await call(path, { headers: { range: 'bytes=9000-' } })
  t.same([none.status, none.headers.get('content-range')], [416, `bytes */${image.length}`])
  for (const method of ['GET', 'HEAD']) {
    const headers = { 'if-none-match': head.headers.get('etag') ?? '' }
    t.equal((await call(path, { method, headers })).status, 304)
    t.equal((await call(path, { method, headers: { 'if-none-match': '"other"' } })).status, 200)
  }
  t.equal((await call(`/v1/screenshots/${id}`, { method: 'DELETE' })).status, 204)
})

/** The methods of a path; HEAD is served as GET where no key is needed. */
const methodsOf = (path: string): readonly string[] =>
  routes.flatMap((each) => (each.path !== path ? [] : each.access === 'open' ? [each.method, 'HEAD'] : [each.method]))

// Contract: 404 route
t.test(
  'answer headers: an unknown path is 404; a known path with another method is 405 with its methods in Allow',
  async (t) => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']
    for (const prefix of prefixes) {
      for (const path of new Set(routes.map((route) => route.path))) {
        const served = methodsOf(path)
        for (const method of methods.filter((each) => !served.includes(each))) {
          const answer = await fetch(baseUrl + prefix + path.replaceAll(/:\w+/g, unknown), { method })
          const what = `${method} ${prefix}${path}`
          t.same([answer.status, answer.headers.get('allow')], [405, [...served, 'OPTIONS'].join(', ')], what)
          if (method !== 'HEAD')
            t.match(await answer.json(), { error: { code: 'METHOD_NOT_ALLOWED', status: 405, message: /./ } }, what)
        }
      }
      const below = `/screenshots/${unknown}/nothing`
      for (const path of ['/nothing', '/screenshots/', '/screenshots//image', below, '/account/nothing']) {
        const answer = await fetch(baseUrl + prefix + path)
        t.equal(answer.headers.get('allow'), null)
        t.match(
          [answer.status, await answer.json()],
          [404, { error: { code: 'NOT_FOUND', status: 404 } }],
          prefix + path,
        )
      }
    }
    const batch = await fetch(`${baseUrl}/v1/screenshots/batch`, { method: 'DELETE' })
    t.same([batch.status, batch.headers.get('allow')], [405, 'POST, GET, OPTIONS'], 'batch is never an id')
  },
)

// Contract: CORS
t.test('answer headers: browsers need no key for a preflight, and can read limits and errors', async (t) => {
  const { call, create } = await newAccount('unlimited')
  const origin = 'https://page.example'
  for (const { method, path } of routes) {
    const preflight = await fetch(`${baseUrl}/v1${path.replaceAll(/:\w+/g, unknown)}`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': 'authorization' },
    })
    t.equal(preflight.status, 204, path)
    t.equal(preflight.headers.get('access-control-allow-origin'), '*', path)
    t.match(preflight.headers.get('access-control-allow-headers'), /Authorization, Content-Type, Idempotency-Key/)
    t.equal(preflight.headers.get('access-control-allow-methods'), [...methodsOf(path), 'OPTIONS'].join(', '), path)
  }
  const exposed = [...rateNames, ...usageNames, ...overageNames]
  exposed.push('x-screenshot-id', 'x-cache', 'x-request-id', 'retry-after')
  const answers = [
    await call(`/v1/screenshots/${await create()}`),
    await call('/v1/screenshots/x'),
    await call('/v1/screenshots?page=0'),
    await call('/v1/screenshots', { method: 'POST', body: '{' }),
    await fetch(`${baseUrl}/v1/account`, { headers: { origin } }),
    await fetch(`${baseUrl}/v1/account`, { method: 'PUT' }),
    await fetch(`${baseUrl}/nothing`),
    await fetch(`${baseUrl}/v1/screenshots/%zz`),
  ].map(({ status, headers }) => ({ status, headers: Object.fromEntries(headers) as Record<string, string> }))
  const unreadable = await raw.send('nonsense\r\n\r\n')
  const endless = await raw.send(rawHead(`GET /v1/account?${'a'.repeat(300_000)}`, ['Host: shots.example']))
  const all = [...answers, unreadable!, endless!]
  t.same(
    all.map(({ status }) => status),
    [200, 404, 422, 400, 401, 405, 404, 401, 400, 414],
  )
  for (const { status, headers } of all) {
    t.equal(headers['access-control-allow-origin'], '*', String(status))
    const exposedHeaders = headers['access-control-expose-headers']?.toLowerCase().split(', ') ?? []
    t.same(
      exposed.filter((name) => !exposedHeaders.includes(name)),
      [],
      String(status),
    )
  }
})

// Contract: Request id
t.test(
  "answer headers: every response has a request id, equal to that of its error; a caller's id is kept if it is a token",
  async (t) => {
    const { call } = await newAccount('unlimited')
    const ids = new Set<string>()
    for (const answer of [
      await call('/v1/account'),
      await call('/v1/screenshots/x'),
      await call('/v1/screenshots', { method: 'POST', body: '{' }),
      await fetch(`${baseUrl}/v1/account`),
      await fetch(`${baseUrl}/v1/account`, { method: 'PUT' }),
      await fetch(`${baseUrl}/v1/account`, { method: 'OPTIONS' }),
      await fetch(`${baseUrl}/nothing`),
      await fetch(`${baseUrl}/v1/openapi.json`),
    ]) {
      const id = answer.headers.get('x-request-id') ?? ''
      t.match(id, /^[\da-f-]{36}$/)
      ids.add(id)
      if (answer.status >= 400) t.match(await answer.json(), { error: { request_id: id } })
    }
    for (const sent of [
      'nonsense\r\n\r\n',
      rawHead('GET /v1/account', ['Host: a', `X-Much: ${'x'.repeat(300_000)}`]),
    ]) {
      const { headers, body = '{}' } = (await raw.send(sent)) ?? {}
      t.match(JSON.parse(body), { error: { request_id: headers?.['x-request-id'] ?? 'none' } })
      ids.add(headers?.['x-request-id'] ?? '')
    }
    t.equal(ids.size, 10, 'each response has its own id')
    for (const [sent, echoed] of [
      ['my-id_1.~', true],
      ["!#$%&'*+.^_`|~", true],
      ['a'.repeat(64), true],
      ['a'.repeat(65), false],
      ['a b', false],
      ['a"b', false],
      ['a/b', false],
      ['é', false],
    ] as const) {
      const answer = await call('/v1/screenshots/x', { headers: { 'x-request-id': sent } })
      const id = answer.headers.get('x-request-id')
      t.equal(id === sent, echoed, sent)
      t.match(await answer.json(), { error: { request_id: id } }, sent)
    }
  },
)

// Contract: Another account's id, malformed id
t.test('answer headers: ids of another account, unknown ids and malformed ids get the same 404', async (t) => {
  const owner = await newAccount('unlimited')
  const other = await newAccount('unlimited')
  const capture = await owner.create()
  const errorCode = async (path: string, body: unknown) =>
    ((await (await owner.post(path, body)).json()) as { data: { id: string } }).data.id
  const ids = {
    batch: await errorCode('/v1/screenshots/batch', { urls: [url] }),
    webhook: await errorCode('/v1/webhooks', { url: 'https://hooks.example.com/' }),
  }
  // Members are changed by sessions, so that any key is refused.
  for (const route of keyed.filter(({ path, tag }) => path.includes(':') && tag !== 'Members')) {
    const foreign = route.path.includes('/batch/') ? ids.batch : ids.webhook
    const own = route.path.startsWith('/screenshots/:id') ? capture : foreign
    const answers = await Promise.all(
      [own, unknown, 'nonsense', '%00', '%zz', '%ff', '%', own.slice(1)].map((id) => askFor(other, route, id)),
    )
    t.same(new Set(answers.map(({ status }) => status)), new Set([404]), route.name)
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    // The message quotes the ids as sent.
    const bodies = new Set(texts.map((body) => body.replaceAll(/`[^`]*`/g, 'ID')))
    t.equal(bodies.size, 1, route.name)
    if (route.method !== 'HEAD') t.match(JSON.parse([...bodies][0]!), { error: { code: 'NOT_FOUND' } }, route.name)
    const upper = await askFor(owner, { ...route, method: 'GET' }, own.toUpperCase())
    await upper.body?.cancel()
    if (route.name === 'status') t.equal(upper.status, 200, 'an id in upper case is the same')
  }
  t.equal((await owner.call(`/v1/webhooks/${ids.webhook}`)).status, 200, 'the webhook still exists')
  t.equal((await owner.call(`/v1/screenshots/${capture}`)).status, 200)
})

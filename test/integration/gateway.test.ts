import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey, revokeKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { poolWakeupSubject } from '#shared/queue/subjects.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { type Behaviour, startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const image = Buffer.from('the bytes of an image')
const gateway = await startGateway(t, { PUBLIC_URL: 'https://shots.example', SYNC_QUEUE_MS: '0' })
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)

type Call = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }

const newAccount = async (plan: string, domains: string[] = []) => {
  const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan })
  const { id: keyId, key } = await createKey(database, { accountId: id, name: 'key', domains, pepper: testPepper })
  const call = (path: string, { headers = {}, ...init }: Call = {}) =>
    fetch(baseUrl + path, { ...init, headers: { authorization: `Bearer ${key}`, ...headers } })
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })
  return { id, keyId, key, call, post }
}

type Answer = { data: Record<string, unknown>; error: { code: string } }
const json = async (response: Response) => (await response.json()) as Answer
const readRows = async (table: 'capture' | 'outbox', accountId: string) =>
  (await database.query(`select * from ${table} where account_id = $1`, [accountId])).length

const pages: Record<string, Behaviour> = {
  'https://example.com/ok': { image },
}
const behave = ({ options }: { options: { url?: string } }): Behaviour => pages[options.url ?? ''] ?? { image }
const fleet = startStandInFleet(gateway, behave)
t.teardown(() => fleet[Symbol.asyncDispose]())

// Contract: Path prefix
// Contract: Timestamps
t.test('gateway: a created capture is queued and runs, and its record and image are served', async (t) => {
  const { id: accountId, call, post } = await newAccount('unlimited')
  const created = await post('/v1/screenshots', { url: 'https://example.com/ok', full_page: true })
  t.equal(created.status, 202)
  const { data } = await json(created)
  t.match(data, { status: 'pending', url: 'https://example.com/ok', options: { full_page: true, format: 'png' } })
  const path = `/v1/screenshots/${String(data['id'])}`
  await eventually(async () => (await json(await call(path))).data['status'] === 'completed')
  const record = (await json(await call(`/api${path}`))).data
  t.match(record, {
    id: data['id'],
    file_size: image.length,
    mime_type: 'image/png',
    width: 1280,
    height: 800,
    target_status: 200,
    final_url: 'https://example.com/',
    warnings: [],
    cached: false,
    image_url: `https://shots.example${path}/image`,
    options: { quality: 80, full_page: true, timeout: 30 },
  })
  for (const name of ['created_at', 'started_at', 'completed_at', 'expires_at']) {
    t.match(record[name], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/, name)
  }
  const whole = await call(`${path}/image`)
  t.same([whole.status, Buffer.from(await whole.arrayBuffer())], [200, image])
  const part = await call(`${path}/image`, { headers: { range: 'bytes=4-8' } })
  t.same([part.status, await part.text()], [206, image.subarray(4, 9).toString()])
  const etag = whole.headers.get('etag') ?? ''
  t.equal((await call(`${path}/image`, { headers: { 'if-none-match': etag } })).status, 304)
  const head = await call(`${path}/image`, { method: 'HEAD' })
  t.same([head.status, head.headers.get('content-length')], [200, String(image.length)])
  await eventually(async () => (await readRows('outbox', accountId)) === 0, { what: 'the outbox row is deleted' })
})

// Contract: GET parameters
t.test('gateway: a synchronous capture responds with its image, after the commit', async (t) => {
  const { call, post } = await newAccount('unlimited')
  const query = 'url=https%3A%2F%2Fexample.com%2Fok&width=800'
  for (const answer of [
    await call(`/v1/screenshots/capture?${query}`),
    await post('/v1/screenshots/capture', { url: 'https://example.com/ok' }),
  ]) {
    t.same([answer.status, Buffer.from(await answer.arrayBuffer())], [200, image])
    t.equal(answer.headers.get('content-type'), 'image/png')
    const id = answer.headers.get('x-screenshot-id')
    t.match(
      (await json(await call(`/v1/screenshots/${id}`))).data,
      { status: 'completed' },
      'the record is complete at once',
    )
  }
  t.same(
    fleet.received.slice(-2).map(({ lane }) => lane),
    ['interactive', 'interactive'],
  )
})

t.test('gateway: the response waits for the commit, however early the result is reported', async (t) => {
  const { call } = await newAccount('unlimited')
  const { promise, resolve } = Promise.withResolvers<void>()
  let reported = false
  const before = () => {
    reported = true
    return promise
  }
  pages['https://example.com/slow-commit'] = { image, before }
  let answered = false
  const answer = call('/v1/screenshots/capture?url=https://example.com/slow-commit').then((response) => {
    answered = true
    return response
  })
  await eventually(() => reported)
  t.equal(answered, false)
  resolve()
  t.equal((await answer).status, 200)
})

// Contract: Synchronous capture that fails (a known departure: image bytes cannot carry a record)
// Contract: Image of a failed capture
t.test('gateway: a failed capture responds with its error code, and its record stays readable', async (t) => {
  const { call, post } = await newAccount('unlimited')
  for (const [code, status] of [
    ['TIMEOUT', 422],
    ['DNS_FAILED', 422],
    ['CONNECTION_FAILED', 422],
    ['BLOCKED', 422],
    ['INVALID_URL', 422],
    ['RENDER_ERROR', 500],
    ['JOB_FAILED', 500],
  ] as const) {
    const url = `https://example.com/${code}`
    pages[url] = { fails: code }
    for (const answer of [
      await call(`/v1/screenshots/capture?url=${url}`),
      await post('/v1/screenshots/capture', { url, response_type: 'image' }),
      await post('/v1/screenshots', { url, response_type: 'image' }),
    ]) {
      t.equal(answer.status, status)
      const { error } = (await answer.json()) as { error: { screenshot_id: string } }
      t.match(error, { code, status, message: 'as the test wants' })
      const path = `/v1/screenshots/${error.screenshot_id}`
      t.match((await json(await call(path))).data, { status: 'failed', error: { code } })
      const download = await call(`${path}/image`)
      const message = `The capture failed: ${code} as the test wants`
      t.match([download.status, await json(download)], [404, { error: { code: 'NOT_READY', message } }])
    }
    for (const answer of [
      await call(`/v1/screenshots/capture?url=${url}&response_type=json`),
      await post('/v1/screenshots/capture', { url, response_type: 'json' }),
    ]) {
      const { data } = await json(answer)
      t.match([answer.status, data], [200, { status: 'failed', error: { code, message: 'as the test wants' } }])
      t.same(data, (await json(await call(`/v1/screenshots/${String(data['id'])}`))).data)
    }
  }
})

// Contract: `response_type=json` on capture
// Contract: `response_type=image` on create
t.test('gateway: each operation responds with the image or the record, as requested', async (t) => {
  const { call, post } = await newAccount('unlimited')
  const url = 'https://example.com/ok'
  for (const answer of [
    await call(`/v1/screenshots/capture?url=${url}&response_type=json`),
    await post('/v1/screenshots/capture', { url, response_type: 'json' }),
  ]) {
    const text = await answer.text()
    const { data, ...rest } = JSON.parse(text) as Answer
    t.same([answer.status, answer.headers.get('content-type'), rest], [200, 'application/json; charset=utf-8', {}])
    t.match(data, { status: 'completed', url, file_size: image.length })
    t.same(data, (await json(await call(`/v1/screenshots/${String(data['id'])}`))).data, 'the same record as GET')
    for (const encoding of ['base64', 'utf8', 'hex'] as const) t.notMatch(text, image.toString(encoding))
  }
  const created = await post('/v1/screenshots', { url, response_type: 'image' })
  t.same([created.status, Buffer.from(await created.arrayBuffer())], [200, image])
  t.match(Object.fromEntries(created.headers), {
    'content-type': 'image/png',
    'x-cache': 'MISS',
    'x-target-status': '200',
  })
  t.equal(fleet.received.at(-1)?.lane, 'interactive')
  const record = await call(`/v1/screenshots/${created.headers.get('x-screenshot-id')}`)
  t.match((await json(record)).data, { status: 'completed', options: { response_type: 'image' } })
  const response = await post('/v1/screenshots', {
    url,
    response_type: 'image',
    webhook_url: 'https://hooks.example.com/',
  })
  t.match([response.status, await json(response)], [202, { data: { status: 'pending', url } }])
})

// Contract: Flags set to `false` or their default
t.test(
  'gateway: false flags, defaults and empty values are allowed on every plan; values that need a feature are not',
  async (t) => {
    const url = 'https://example.com/ok'
    const nothing = {
      ...{ device: 'desktop', retina: false, block_ads: false, block_chats: false, dark_mode: false, stealth: false },
      ...{ extract_metadata: false, block_cookies: false, headers: {}, cookies: [], css: '', js: '', format: 'png' },
    }
    const { call, post } = await newAccount('free')
    t.equal((await post('/v1/screenshots', { url, ...nothing })).status, 202)
    const query = 'retina=0&block_ads=false&dark_mode=0&stealth=false&device=desktop'
    t.equal((await call(`/v1/screenshots/capture?url=${url}&${query}`)).status, 200)
    for (const parameters of [
      { device: 'mobile' },
      { retina: true },
      { block_ads: true },
      { block_chats: true },
      { dark_mode: true },
      { stealth: true },
      { extract_metadata: true },
      { headers: { a: 'b' } },
      { cookies: [{ name: 'a', value: 'b' }] },
      { css: 'a{}' },
      { js: '1' },
      { format: 'pdf' },
    ]) {
      const refused = await (await newAccount('free')).post('/v1/screenshots', { url, ...nothing, ...parameters })
      t.same(
        [refused.status, (await json(refused)).error.code],
        [403, 'FEATURE_NOT_AVAILABLE'],
        JSON.stringify(parameters),
      )
    }
  },
)

t.test(
  "gateway: captures with a caller's proxy have their own pool, and no stored or returned field has its password",
  async (t) => {
    const { id: accountId, call, post } = await newAccount('unlimited')
    await using proxied = startStandInFleet(gateway, behave, { pool: 'proxied' })
    let poolWakeups = 0
    using _poolWoken = gateway.queue.subscribe(poolWakeupSubject('proxied'), () => (poolWakeups += 1))
    const proxy = 'http://user:s3cr3t@proxy.example.com:3128'
    const answer = await post('/v1/screenshots/capture', { url: 'https://example.com/ok', proxy, timeout: 5 })
    t.same([answer.status, Buffer.from(await answer.arrayBuffer())], [200, image])
    t.match(proxied.received, [{ lane: 'interactive', part: { options: { proxy } } }])
    t.equal(fleet.received.filter(({ part }) => part.options.proxy !== undefined).length, 0)
    await eventually(() => poolWakeups > 0)
    const record = await (await call(`/v1/screenshots/${answer.headers.get('x-screenshot-id')}`)).text()
    t.match(record, 'http://user:***@proxy.example.com:3128')
    const rows = await database.query('select to_jsonb(c)::text as row from capture c where account_id = $1', [
      accountId,
    ])
    t.equal(rows.length, 1)
    t.notMatch(record + JSON.stringify(rows), 's3cr3t')
  },
)

t.test("gateway: a caller's proxy needs its feature; an invalid one is a 422 without the password", async (t) => {
  const starter = await newAccount('starter')
  const proxy = 'socks5://proxy.example.com:1080'
  const gated = await starter.post('/v1/screenshots', { url: 'https://example.com/ok', proxy })
  t.same([gated.status, (await json(gated)).error.code], [403, 'FEATURE_NOT_AVAILABLE'])
  const { post } = await newAccount('unlimited')
  const long = `socks5://${'u'.repeat(256)}:s3cr3t@proxy.example.com:1080`
  const wrong = await post('/v1/screenshots', { url: 'https://example.com/ok', proxy: long })
  const text = await wrong.text()
  t.match(JSON.parse(text), { error: { status: 422, details: { proxy: [/at most 255 bytes/] } } })
  t.notMatch(text, 's3cr3t')
})

// Contract: Minute limit
t.test('gateway: a refused request stores nothing, and counts against its minute', async (t) => {
  const { id, call, post } = await newAccount('free')
  const receivedBefore = fleet.received.length
  const statuses = []
  for (const body of [
    {},
    { url: 'http://127.0.0.1/' },
    { url: 'https://example.com/ok', retina: true },
    { url: 'https://example.com/ok', width: 1 },
  ]) {
    const answer = await post('/v1/screenshots', body)
    statuses.push([answer.status, answer.headers.get('x-ratelimit-remaining')])
    await answer.body?.cancel()
  }
  t.same(statuses, [
    [422, '4'],
    [422, '3'],
    [403, '2'],
    [422, '1'],
  ])
  t.equal((await call('/v1/screenshots/x')).headers.get('x-ratelimit-remaining'), '0')
  const limited = await post('/v1/screenshots', { url: 'https://example.com/ok' })
  t.match(
    [limited.status, await json(limited)],
    [429, { error: { code: 'RATE_LIMIT_EXCEEDED', retry_after: Number(limited.headers.get('retry-after')) } }],
  )
  t.same([await readRows('capture', id), await readRows('outbox', id), fleet.received.length], [0, 0, receivedBefore])
  t.equal(limited.headers.get('x-usage-remaining'), '200', 'nothing was charged')
})

t.test('gateway: a record is visible only to its own account', async (t) => {
  const owner = await newAccount('unlimited')
  const other = await newAccount('unlimited')
  const created = await json(await owner.post('/v1/screenshots', { url: 'https://example.com/ok' }))
  const path = `/v1/screenshots/${String(created.data['id'])}`
  t.equal((await owner.call(path)).status, 200)
  t.equal((await other.call(path)).status, 404)
  t.equal((await other.call(`${path}/image`)).status, 404)
})

// Contract: Domain-restricted keys
t.test('gateway: keys are restricted to their domains, and are refused once revoked', async (t) => {
  const { call, keyId } = await newAccount('unlimited', ['Example.com', '*.example.org', '[2001:DB8::1]'])
  const from = async (headers: Record<string, string>) => (await call('/v1/screenshots/x', { headers })).status
  t.equal(await from({ origin: 'https://example.com' }), 404)
  t.equal(await from({ origin: 'http://EXAMPLE.com:8080' }), 404, 'port and case do not matter')
  t.equal(await from({ origin: 'https://[2001:db8:0::1]:8443' }), 404)
  t.equal(await from({ referer: 'https://www.example.org/page' }), 404)
  t.equal(await from({ origin: 'https://example.com', referer: 'https://evil.example/' }), 404)
  for (const origin of [
    'https://example.com.evil.com',
    'https://evilexample.com',
    'https://example.org',
    'https://[2001:db8::2]',
    'null',
    'https://example.org.evil.com',
  ]) {
    t.equal(await from({ origin }), 403, origin)
  }
  t.equal(await from({}), 403)
  t.equal(await from({ origin: 'null', referer: 'https://example.com/' }), 403, 'Origin takes precedence')
  await revokeKey(database, keyId)
  t.equal(await from({ origin: 'https://example.com' }), 401)
})

// Contract: Charging
t.test('gateway: a client that disconnects does not affect its capture or its charge', async (t) => {
  const { id, call } = await newAccount('unlimited')
  const { promise, resolve } = Promise.withResolvers<void>()
  pages['https://example.com/left'] = { image, before: () => promise }
  const gone = new AbortController()
  const answer = call('/v1/screenshots/capture?url=https://example.com/left', { signal: gone.signal })
  await eventually(async () => (await readRows('capture', id)) === 1)
  gone.abort()
  await t.rejects(answer)
  resolve()
  await eventually(async () => {
    const [row] = await database.query<{ status: string }>('select status from capture where account_id = $1', [id])
    return row?.status === 'completed'
  })
  const charged = await database.query('select reserved::integer, settled::integer from usage where account_id = $1', [
    id,
  ])
  t.same(charged, [{ reserved: 0, settled: 1 }], 'it is charged')
})

t.test('gateway: health and metrics are served on their own port', async (t) => {
  t.equal((await fetch(`${gateway.probeUrl}/livez`)).status, 200)
  await eventually(async () => (await fetch(`${gateway.probeUrl}/readyz`)).status === 200)
  t.match(await (await fetch(`${gateway.probeUrl}/readyz`)).json(), {
    ready: true,
    detail: { postgresql: 'ok', nats: 'ok', object_store: 'ok' },
  })
  const metrics = await (await fetch(`${gateway.probeUrl}/metrics`)).text()
  t.match(metrics, /shutterfleet_http_requests_total\{operation="capture_get",status="200"/)
  t.notMatch(metrics, /example\.com/)
})

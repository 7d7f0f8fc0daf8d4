import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { catalog } from '#shared/errors/catalog.ts'
import { createKey, revokeKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createRawClient, type RawAnswer, rawHead } from '#test/helpers/raw-client.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const wrongKeysMax = 5
const gateway = await startGateway(t, {
  PUBLIC_URL: 'https://shots.example',
  KEY_FAILURES_PER_MINUTE: String(wrongKeysMax),
})
const { database, baseUrl, probeUrl } = gateway
await replacePlans(database, defaultPlans)
const fleet = startStandInFleet(gateway, () => ({ image: Buffer.from('the bytes of an image') }))
t.teardown(() => fleet[Symbol.asyncDispose]())

const newKey = async (domains: string[] = []) => {
  const { id: accountId } = await createAccount(database, { name: 'A', email: 'a@example.com', plan: 'unlimited' })
  return (await createKey(database, { accountId, name: '', domains, pepper: testPepper })).key
}
const key = await newKey()
const { open, send } = createRawClient(t, baseUrl)
const host = 'Host: shots.example'
const authorization = `Authorization: Bearer ${key}`
const create = 'POST /v1/screenshots'
const json = 'Content-Type: application/json'
const small = JSON.stringify({ url: 'https://example.com/' })
const lengthOf = (body: string | Buffer) => `Content-Length: ${Buffer.byteLength(body)}`

const post = (body: string | Buffer, headers: readonly string[] = [json]) =>
  send(rawHead(create, [host, authorization, lengthOf(body), ...headers]), body)
const get = (path: string, ...headers: readonly string[]) =>
  send(rawHead(`GET ${path}`, [host, authorization, ...headers]))

type ErrorFields = { code: string; status: number; request_id: string; details?: Record<string, string[]> }
const errorOf = (answer: RawAnswer | undefined): ErrorFields => JSON.parse(answer?.body ?? '{}').error
const records = async () => (await database.query('select from capture')).length

/** Each request gets the error `code` in its envelope, with its request id, and stores nothing. */
const refused = async (
  t: Test,
  requests: Readonly<Record<string, () => Promise<RawAnswer | undefined>>>,
  code: string,
) => {
  const before = await records()
  for (const [what, ask] of Object.entries(requests)) {
    const answer = await ask()
    const error = errorOf(answer)
    t.match({ what, status: answer?.status, error }, { what, status: error.status, error: { code } })
    t.equal(error.status, catalog[code as keyof typeof catalog].status, what)
    const { request_id: requestId } = error
    t.match(answer?.headers, { 'x-request-id': requestId, 'content-type': /^application\/json/ }, what)
  }
  t.equal(await records(), before, 'nothing is stored')
}

// An endless head, sent first because the gateway cuts it only after a while.
const slow = await open()
slow.write(`POST /v1/screenshots HTTP/1.1\r\n${host}\r\nX-Slow: `)
const slowAnswer = text(slow)

// Contract: 400
t.test('hostile clients: a body that is not JSON by exactly one content type is refused', async (t) => {
  const wrong = {
    'two types, the wrong one first': () => post(small, ['Content-Type: text/plain', json]),
    'a type in another header': () => post(small, ['X-Content-Type: application/json']),
    none: () => post(small, []),
    'a list of types': () => post(small, ['Content-Type: application/json, text/html']),
    compressed: () => post(Buffer.from('1f8b08000000000000ff', 'hex'), [json, 'Content-Encoding: gzip']),
    'UTF-16': () => post(Buffer.from(small, 'utf16le'), ['Content-Type: application/json; charset=utf-16']),
    'a byte order mark alone': () => post(Buffer.from([0xef, 0xbb, 0xbf]), [json]),
  }
  await refused(t, wrong, 'BAD_REQUEST')
  for (const type of ['APPLICATION/JSON', 'application/json\t; charset=UTF-8', 'application/json;']) {
    t.equal((await post(small, [`Content-Type: ${type}`]))?.status, 202, type)
    t.equal((await post('{"width":1}', [`Content-Type: ${type}`]))?.status, 422, type)
  }
})

// Contract: 413
// Contract: Sizes
t.test('hostile clients: a body is bounded by its actual size, whatever its headers say', async (t) => {
  const most = 7 * 1024 * 1024
  const large = Buffer.alloc(most + 1, 0x20)
  const chunk = Buffer.concat([Buffer.from(`${large.length.toString(16)}\r\n`), large, Buffer.from('\r\n0\r\n\r\n')])
  const chunked = rawHead(create, [host, authorization, json, 'Transfer-Encoding: chunked'])
  await refused(t, { announced: () => post(large), chunked: () => send(chunked, chunk) }, 'PAYLOAD_TOO_LARGE')
  const both = [host, authorization, json, lengthOf(small), 'Transfer-Encoding: chunked']
  const ambiguous = {
    'length and chunks': () => send(rawHead(create, both), `0\r\n\r\n${small}`),
    'two lengths': () =>
      send(rawHead(create, [host, authorization, json, 'Content-Length: 1', lengthOf(small)]), small),
    'a negative length': () => send(rawHead(create, [host, authorization, json, 'Content-Length: -1']), small),
    'no chunk': () => send(chunked, 'zz\r\n'),
  }
  await refused(t, ambiguous, 'BAD_REQUEST')
})

t.test('hostile clients: any number of parameters is refused in one response', async (t) => {
  const path = '/v1/screenshots/capture?url=https://example.com/'
  const many = (name: (n: number) => string) => Array.from({ length: 10_000 }, (_, n) => `&${name(n)}`).join('')
  const short = { 'one name': () => get(path + many(() => 'a=1')), empty: () => get(path + many(() => '')) }
  await refused(t, short, 'VALIDATION_ERROR')
  await refused(t, { 'many names': () => get(path + many((n) => `p${n}=1`)) }, 'URI_TOO_LONG')
  const fields = Object.fromEntries(Array.from({ length: 9000 }, (_, n) => [`p${n}`, 1]))
  await refused(t, { fields: () => post(JSON.stringify(fields)) }, 'VALIDATION_ERROR')
})

t.test('hostile clients: nesting of any depth is refused without recursion', async (t) => {
  const nested = (opens: string, closes: string, depth: number) => opens.repeat(depth) + closes.repeat(depth)
  const deep = {
    lists: () => post(nested('[', ']', 9000)),
    'lists deeper than the parser goes': () => post(nested('[', ']', 100_000)),
    objects: () => post(`${'{"headers":'.repeat(4000)}1${'}'.repeat(4000)}`),
    'in a field': () => post(`{"url":"https://example.com/","cookies":${nested('[', ']', 5000)}}`),
    'in a query': () => get(`/v1/screenshots/capture?url=https://example.com/&headers${'[a]'.repeat(5000)}=1`),
    'JSON in a query': () => get(`/v1/screenshots/capture?url=https://example.com/&cookies=${nested('[', ']', 5000)}`),
  }
  await refused(t, deep, 'VALIDATION_ERROR')
  await refused(t, { 'that does not close': () => post('['.repeat(9000)) }, 'BAD_REQUEST')
})

t.test('hostile clients: prototype property names are unknown parameters, and pollute no other request', async (t) => {
  const evil = '{"polluted":"yes","width":1}'
  const named = {
    'the prototype': () => post(`{"url":"https://example.com/","__proto__":${evil}}`),
    'the constructor': () => post(`{"url":"https://example.com/","constructor":{"prototype":${evil}}}`),
    'a method': () => post(`{"url":"https://example.com/","toString":${evil}}`),
    'in a cookie': () =>
      post(`{"url":"https://example.com/","cookies":[{"name":"a","value":"b","__proto__":${evil}}]}`),
    'as a place': () => post(`{"url":"https://example.com/","geolocation":{"__proto__":{"latitude":1,"longitude":1}}}`),
    'in a query': () => get('/v1/screenshots/capture?url=https://example.com/&__proto__[polluted]=yes'),
    'deep in a query': () =>
      get('/v1/screenshots/capture?url=https://example.com/&constructor[prototype][polluted]=yes'),
    'as a header': () => get('/v1/screenshots/capture?url=https://example.com/&headers[__proto__]=yes'),
  }
  await refused(t, named, 'VALIDATION_ERROR')
  const after = await post(small)
  t.equal(after?.status, 202)
  t.same(JSON.parse(after!.body).data.options, { width: 1280, height: 800, format: 'png' })
})

// Contract: Image response
// Contract: Request id
t.test('hostile clients: no input of a caller becomes a header or a part of a file name', async (t) => {
  const url = 'https://example.com/a%0d%0aSet-Cookie:%20a=1/";filename=evil.exe'
  const answer = await send(
    rawHead('POST /v1/screenshots/capture', [
      ...[host, authorization, json, lengthOf(JSON.stringify({ url }))],
      'X-Request-Id: a"; evil=1',
    ]),
    JSON.stringify({ url }),
  )
  const { headers = {}, status } = answer ?? {}
  t.equal(status, 200)
  t.equal(headers['content-disposition'], `inline; filename="${headers['x-screenshot-id']}.png"`)
  t.equal(headers['set-cookie'], undefined)
  t.match(headers['x-request-id'], /^[\da-f-]{36}$/)
  t.match(headers, { 'x-content-type-options': 'nosniff', 'content-security-policy': "default-src 'none'; sandbox" })
})

// Contract: Absolute addresses
t.test('hostile clients: addresses in responses have the public URL, whatever host a request names', async (t) => {
  const spoofed = [
    'X-Forwarded-Host: evil.example',
    'X-Forwarded-Proto: http',
    'X-Forwarded-For: 10.0.0.1',
    'Forwarded: host=evil.example;proto=http',
  ]
  const headers = [authorization, json, lengthOf(small), ...spoofed]
  const created = await send(rawHead(create, ['Host: evil.example', ...headers]), small)
  t.equal(created?.status, 202)
  const absolute = await send(
    rawHead('POST http://evil.example/v1/screenshots', ['Host: evil.example', ...headers]),
    small,
  )
  const urls = JSON.stringify({ urls: ['https://example.com/'] })
  const batch = await send(
    rawHead(`${create}/batch`, ['Host: evil.example', authorization, json, lengthOf(urls), ...spoofed]),
    urls,
  )
  const spoofedGet = (path: string) => send(rawHead(`GET ${path}`, ['Host: evil.example', authorization, ...spoofed]))
  const path = `/v1/screenshots/${String(JSON.parse(created!.body).data.id)}`
  await get(`${path}?wait=30`)
  const link = await send(rawHead(`POST ${path}/signed-url`, ['Host: evil.example', authorization, ...spoofed]))
  const read = await Promise.all(
    [path, `${path}/events`, '/v1/screenshots?per_page=1', '/v1/openapi.json', '/v1/docs'].map(spoofedGet),
  )
  const all = [created, absolute, batch, link, ...read]
  for (const answer of all) t.notMatch(JSON.stringify(answer), 'evil.example')
  for (const answer of [created, absolute, batch])
    t.match(answer?.headers['location'], /^https:\/\/shots\.example\/v1\/screenshots\//)
  // The last response, the page of the reference, contains no address.
  const bodies = [link, ...read.slice(0, -1)].map((answer) => answer?.body ?? '')
  for (const body of bodies) t.match(body, /https:\/\/shots\.example\b/)
  t.match(bodies[1], `"image_url":"https://shots.example${path}/image"`)
  t.match(bodies[3], '"next":"https://shots.example/v1/screenshots?')
})

// Contract: Domain-restricted keys
t.test('hostile clients: a restricted key is accepted from exactly its own hosts', async (t) => {
  const bound = await newKey(['example.com', '*.example.org'])
  const from = async (origin: string) =>
    (await send(rawHead('GET /v1/account', [host, `Authorization: Bearer ${bound}`, `Origin: ${origin}`])))?.status
  for (const origin of ['https://example.com', 'HTTPS://EXAMPLE.COM:8443', 'http://a.b.example.org']) {
    t.equal(await from(origin), 200, origin)
  }
  for (const origin of [
    'https://example.com@evil.com',
    'https://example.com:443@evil.com',
    'https://example.com.evil.com',
    'https://evil.com/https://example.com',
    'https://evil.com?https://example.com',
    'https://evil.com#.example.org',
    'https://evil.com\\.example.org',
    'https://evilexample.org',
    'https://example.org',
    'https://example.com%00.evil.com',
    'https://example.co',
    'ftp://example.com',
    'example.com',
    'file://',
    'null',
    '*',
  ]) {
    t.equal(await from(origin), 403, origin)
  }
})

// Contract: 404 route
t.test('hostile clients: invented paths are 404, not server faults', async (t) => {
  const paths = [
    '%00',
    '%zz',
    '%',
    '%ff',
    '..%2f..%2fetc%2fpasswd',
    "'; drop table capture; --",
    'a'.repeat(10_000),
    '%F0%9F%92%A9',
    '-1',
  ]
  const unknown = paths.flatMap((id) => [
    `/v1/screenshots/${id.replaceAll(' ', '%20')}`,
    `/v1/screenshots/batch/${encodeURI(id)}`,
  ])
  await refused(t, Object.fromEntries(unknown.map((path) => [path, () => get(path)])), 'NOT_FOUND')
  for (const path of ['/v1//screenshots', '//v1/account']) {
    const answer = await get(path)
    t.ok([400, 404].includes(answer?.status ?? 0), path)
    t.equal(errorOf(answer).status, answer?.status)
  }
})

t.test('hostile clients: clients that disconnect midway leave no record, and delay no others', async (t) => {
  const before = await records()
  const head = rawHead(create, [host, authorization, json, `Content-Length: ${small.length}`])
  const large = rawHead(create, [host, authorization, json, 'Content-Length: 100000'])
  const sockets = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const socket = await open()
      socket.write([head.slice(0, 60), head + small.slice(0, -1), large + small, ''][n % 4]!)
      return socket
    }),
  )
  t.equal((await post(small))?.status, 202, 'with 200 of them open')
  for (const [n, socket] of sockets.entries()) {
    if (n % 2 === 0) socket.resetAndDestroy()
    else socket.destroy()
  }
  t.equal((await get('/v1/account'))?.status, 200)
  t.equal(await records(), before + 1)
})

t.test('hostile clients: a client that disconnects from a stream or a wait affects no other client', async (t) => {
  const created = await post(JSON.stringify({ url: 'https://example.com/', delay: 1 }))
  const path = `/v1/screenshots/${String(JSON.parse(created!.body).data.id)}`
  const sockets = await Promise.all(
    ['/events', '?wait=60'].map(async (rest) => {
      const socket = await open()
      socket.write(`GET ${path}${rest} HTTP/1.1\r\n${host}\r\n${authorization}\r\n\r\n`)
      return socket
    }),
  )
  for (const socket of sockets) socket.destroy()
  t.equal((await get(`${path}?wait=1`))?.status, 200)
  await eventually(async () => JSON.parse((await get(path))!.body).data.status === 'completed')
})

// Contract: Request id
t.test('hostile clients: an endless head is cut with an error in the envelope', async (t) => {
  const answer = await slowAnswer
  t.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/)
  t.match(answer, /"code":"BAD_REQUEST"/)
  const [, id = 'none'] = /"request_id":"([^"]+)"/.exec(answer) ?? []
  t.match(answer, `x-request-id: ${id}\r\n`)
})

// Contract: Absolute addresses
t.test('hostile clients: rejects concurrent wrong keys per client address; valid keys are served', async (t) => {
  const other = await newKey()
  const withKey = (apiKey: string, ...headers: readonly string[]) =>
    send(rawHead('GET /v1/account', [host, `Authorization: Bearer ${apiKey}`, ...headers]))
  const guess = (n: number, ...headers: readonly string[]) =>
    withKey(`sk_live_${String(n).padStart(40, '0')}`, ...headers)
  const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => guess(n)))
  const judged = answers.filter((answer) => answer?.status === 401).length
  t.ok(judged >= 1 && judged <= wrongKeysMax + 1, `${judged} of 60 were checked`)
  t.equal(answers.filter((answer) => answer?.status === 429).length, 60 - judged)
  await refused(t, { 'a further guess': () => guess(99) }, 'RATE_LIMIT_EXCEEDED')
  const waitSeconds = Number((await guess(100))?.headers['retry-after'])
  t.ok(waitSeconds >= 1 && waitSeconds <= 60 / wrongKeysMax, `${waitSeconds} s, the interval of one wrong key`)
  t.equal(
    (await guess(101, 'X-Forwarded-For: 198.51.100.7'))?.status,
    429,
    'only a trusted proxy can name another address',
  )
  t.equal((await send(rawHead('GET /v1/account', [host])))?.status, 401, 'a request without a key does not count')
  t.equal((await withKey(other))?.status, 200, 'a valid key not used before')
  t.equal((await get('/v1/account'))?.status, 200, 'a valid key used before')
  const [{ id } = { id: '' }] = await database.query<{ id: string }>('select id from api_key order by created_at desc')
  await revokeKey(database, id)
  t.equal((await withKey(other))?.status, 401, 'a revoked key is a wrong key')
  t.equal((await withKey(other))?.status, 429, 'a revoked key is limited as a wrong key')
})

t.test('hostile clients: none of these requests caused a 5xx response', async (t) => {
  const metrics = await (await fetch(`${probeUrl}/metrics`)).text()
  t.match(metrics, /http_requests_total\{[^}]*status="422"/)
  t.notMatch(metrics, /http_requests_total\{[^}]*status="5\d\d"[^}]*\} [1-9]/)
})

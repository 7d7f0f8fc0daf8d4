import { once } from 'node:events'
import { createServer, type IncomingMessage, request as openRequest, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json, text as readText } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { createKeyHash } from '#shared/db/key-hash.ts'
import { createKey, revokeKey } from '#shared/db/keys.ts'
import { holdAccount } from '#shared/db/move-account.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { createSignInLink } from '#shared/db/sign-in-links.ts'
import { claimOf } from '#gateway/router/claim.ts'
import { signRenderLink } from '#gateway/links/render-link.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { readEvents } from '#test/helpers/read-events.ts'
import { createRawClient, rawHead } from '#test/helpers/raw-client.ts'
import { type RunningGateway, startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startRouter } from '#test/helpers/running-router.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const publicUrl = 'https://shots.example'
const page = { url: 'https://example.com/' }
const endless = { url: 'https://example.com/endless' }
const cells = await Promise.all(
  ['one', 'two'].map((name) =>
    startGateway(t, {
      PUBLIC_URL: publicUrl,
      TRUSTED_PROXIES: '127.0.0.1',
      KEY_FAILURES_PER_MINUTE: '20',
      LINK_SIGNING_KEYS: `1:${Buffer.alloc(32, name).toString('base64')}`,
    }),
  ),
)
const [one, two] = cells as [RunningGateway, RunningGateway]
for (const { database } of cells) await replacePlans(database, defaultPlans)
const { baseUrl, probeUrl } = await startRouter(t, { one: one.baseUrl, two: two.baseUrl }, publicUrl)
for (const cell of cells) {
  const fleet = startStandInFleet(cell, ({ options: { url } }) =>
    url === endless.url ? 'nothing' : { image: Buffer.from(cell === one ? 'of one' : 'of two') },
  )
  t.teardown(() => fleet[Symbol.asyncDispose]())
}

const newCaller = async ({ database }: RunningGateway) => {
  const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan: 'unlimited' })
  const key = await createKey(database, { accountId: id, name: '', domains: [], pepper: testPepper })
  const headers = { authorization: `Bearer ${key.key}` }
  const get = (path: string, more: Readonly<Record<string, string>> = {}, from = baseUrl) =>
    fetch(`${from}/v1/${path}`, { headers: { ...headers, ...more } })
  const post = (path: string, body: unknown) =>
    fetch(`${baseUrl}/v1/${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return { accountId: id, keyId: key.id, key: key.key, headers, get, post }
}
const callers = await Promise.all(cells.map(newCaller))
const [first, second] = callers as [Awaited<ReturnType<typeof newCaller>>, Awaited<ReturnType<typeof newCaller>>]

const dataOf = async (answer: Response) => ((await answer.json()) as { data: Record<string, unknown> }).data
const metricsOf = async (url: string) => (await fetch(`${url}/metrics`)).text()

/** A server in place of a gateway; resolves to its URL. */
const startStub = async (t: Test, serve: RequestListener): Promise<string> => {
  const stub = createServer(serve)
  stub.listen(0, '127.0.0.1')
  await once(stub, 'listening')
  t.teardown(() => {
    stub.closeAllConnections()
    stub.close()
  })
  return `http://127.0.0.1:${(stub.address() as AddressInfo).port}`
}

t.test(
  'router: of an account that was moved reads are repeated where it is, and a request with a body gets 503 once',
  async (t) => {
    for (const method of ['GET', 'POST'] as const) {
      const [caller, there] = [await newCaller(one), await newCaller(two)]
      t.equal((await caller.get('account')).status, 200, 'its cell is remembered')
      const [key] = await one.database.query<{ hash: Buffer }>(
        'delete from api_key where id = $1 returning key_hash as hash',
        [caller.keyId],
      )
      await two.database.query('update api_key set key_hash = $1 where id = $2', [key?.hash, there.keyId])
      if (method === 'POST') {
        const refused = await caller.post('screenshots', page)
        t.match([refused.status, refused.headers.get('retry-after')], [503, '1'])
        t.equal((await caller.post('screenshots', page)).status, 202)
      } else t.match(await dataOf(await caller.get('account')), { id: there.accountId })
    }
  },
)

t.test('a request goes to the cell whose account its key is of, and its response comes back', async (t) => {
  for (const [caller, text] of [
    [first, 'of one'],
    [second, 'of two'],
  ] as const) {
    const answer = await caller.post('screenshots/capture', page)
    t.equal(answer.status, 200)
    t.equal(await answer.text(), text)
  }
  t.equal((await dataOf(await second.get('account')))['id'], second.accountId)
})

t.test('a link of a cell is served without a key: to an image, and one that captures on demand', async (t) => {
  const created = await dataOf(await second.post('screenshots', page))
  const id = String(created['id'])
  await second.get(`screenshots/${id}?wait=30`)
  const { url } = await dataOf(await second.post(`screenshots/${id}/signed-url`, {}))
  const path = String(url).replace(publicUrl, baseUrl)
  t.equal(await (await fetch(path)).text(), 'of two')
  const { secret } = await dataOf(await second.post(`keys/${second.keyId}/link-secret`, {}))
  const link = signRenderLink(String(secret), { key_id: second.keyId, ...page })
  t.equal(await (await fetch(`${baseUrl}/v1/render?${link}`)).text(), 'of two')
  t.equal((await fetch(path.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).status, 403, 'a forged one is not')
})

t.test('a sign-in link and its session lead to their cell', async (t) => {
  const { token } = await createSignInLink(two.database, {
    accountId: second.accountId,
    role: 'owner',
    pepper: testPepper,
  })
  const signedIn = await fetch(`${baseUrl}/console/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: publicUrl },
    body: JSON.stringify({ token }),
  })
  t.equal(signedIn.status, 201)
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const session = await fetch(`${baseUrl}/console/api/session`, { headers: { cookie } })
  t.match(await session.json(), { account: { id: second.accountId } })
})

t.test('guesses of keys are counted by the address of the client that the router adds', async (t) => {
  let guesses = 0
  const guess = async () => {
    guesses += 1
    const key = `sk_live_${String(guesses).padStart(40, 'x')}`
    return (await fetch(`${baseUrl}/v1/account`, { headers: { authorization: `Bearer ${key}` } })).status
  }
  t.equal(await guess(), 401)
  await eventually(async () => (await guess()) === 429)
  t.ok(guesses > 2)
  t.equal((await (await newCaller(one)).get('account')).status, 200, 'a valid key is served all the same')
})

t.test('a key that was revoked is refused by its own cell, with the reason', async (t) => {
  const caller = await newCaller(two)
  t.equal((await caller.get('account')).status, 200)
  await revokeKey(two.database, caller.keyId)
  const refused = await caller.get('account')
  t.equal(refused.status, 401)
  t.match(await refused.json(), { error: { message: /revoked/ } })
})

t.test('what belongs to no account is served by the first cell that can be reached', async (t) => {
  const dead = await startRouter(t, { dead: 'http://127.0.0.1:9', two: two.baseUrl }, publicUrl)
  t.equal((await fetch(`${dead.baseUrl}/v1/openapi.json`)).status, 200)
  t.equal((await fetch(`${dead.baseUrl}/readyz`)).status, 200)
})

t.test(
  'while a cell is silent, others notice nothing, and an unknown key may be its: 503 instead of 401',
  async (t) => {
    const url = await startStub(t, () => {})
    const router = await startRouter(t, { silent: url, two: two.baseUrl }, publicUrl)
    t.equal((await second.get('account', {}, router.baseUrl)).status, 200)
    const unknown = await first.get('account', {}, router.baseUrl)
    t.equal(unknown.status, 503)
    t.equal(unknown.headers.get('retry-after'), '5')
    t.match(await unknown.json(), { error: { code: 'SERVICE_UNAVAILABLE' } })
  },
)

t.test('a router with another token is told nothing', async (t) => {
  const answer = await fetch(`${two.baseUrl}/router/credentials`, {
    method: 'POST',
    headers: { authorization: 'Bearer another-token-of-a-router', 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'key', value: second.key }),
  })
  t.equal(answer.status, 401)
  t.notMatch(await answer.text(), 'is_known')
})

t.test('events arrive as they are sent, and the gateway notices that the client has gone', async () => {
  const created = await dataOf(await first.post('screenshots', endless))
  const leaving = new AbortController()
  const answer = await fetch(`${baseUrl}/v1/screenshots/${String(created['id'])}/events`, {
    headers: first.headers,
    signal: leaving.signal,
  })
  const { events } = readEvents(answer)
  await eventually(() => events.length > 0)
  leaving.abort()
  await eventually(async () => /event_streams_ended_total\{end="gone",.*\} 1\b/.test(await metricsOf(one.probeUrl)))
})

t.test('requests are counted by cell, and lookups by outcome', async (t) => {
  const counted = async (line: RegExp) => line.test(await metricsOf(probeUrl))
  t.ok(await counted(/router_requests_total\{cell="two",status="2xx",.*\} [1-9]/))
  t.ok(await counted(/router_lookups_total\{outcome="found",.*\} [1-9]/))
  t.ok(await counted(/router_lookups_total\{outcome="unknown",.*\} [1-9]/))
})

t.test('a cell gets the headers as sent, but for those of the connection, under its own name', async (t) => {
  const seen: string[][] = []
  const url = await startStub(t, (request, response) => {
    seen.push(request.rawHeaders)
    response.end()
  })
  const router = await startRouter(t, { one: url }, publicUrl)
  const { send } = createRawClient(t, router.baseUrl)
  const own = ['Connection: close, x-secret', 'X-Secret: 1', 'X-Forwarded-For: 192.0.2.7']
  await send(
    rawHead('GET http://shots.example/v1/account', ['Host: shots.example', 'X-Twice: 1', 'X-Twice: 2', ...own]),
  )
  const [headers = []] = seen
  const valuesOf = (name: string) => headers.filter((_, index) => headers[index - 1]?.toLowerCase() === name)
  t.same(valuesOf('x-twice'), ['1', '2'])
  t.same(valuesOf('x-secret'), [])
  t.same(valuesOf('x-forwarded-for'), ['192.0.2.7, 127.0.0.1'])
  t.same(valuesOf('host'), [url.replace('http://', '')])
})

t.test('a read whose gateway closes the connection is sent again, but nothing that it may have accepted', async (t) => {
  const seen: string[] = []
  const url = await startStub(t, (request) => {
    seen.push(`${request.method} ${request.url}`)
    request.socket.destroy()
  })
  const router = await startRouter(t, { one: url }, publicUrl)
  const status = async (path: string, init: RequestInit = {}) => (await fetch(`${router.baseUrl}${path}`, init)).status
  t.equal(await status('/v1/account'), 503)
  t.same(seen.splice(0), ['GET /v1/account', 'GET /v1/account'])
  for (const path of ['/v1/screenshots/capture?url=x', '/api/v1/screenshots/%63apture?url=x']) {
    t.equal(await status(path), 503)
    t.same(seen.splice(0), [`GET ${path}`])
  }
  t.equal(await status('/v1/screenshots', { method: 'POST', body: '{}' }), 503)
  t.same(seen, ['POST /v1/screenshots'])
})

t.test('a change whose body arrives after its account began to move is not made', async (t) => {
  const { accountId, keyId, headers } = await newCaller(one)
  const body = JSON.stringify({ url: 'https://example.com/hook', events: ['screenshot.completed'] })
  const change = openRequest(`${one.baseUrl}/v1/webhooks`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length },
  })
  change.flushHeaders()
  const isChecked = async () =>
    (await one.database.query('select from api_key where id = $1 and last_used_at is not null', [keyId])).length > 0
  await eventually(isChecked, { what: 'the key is checked' })
  await holdAccount(one.database, accountId, 'system')
  // What arrives sooner is over before the rows are copied.
  await delay(1100)
  change.end(body)
  const [response] = (await once(change, 'response')) as [IncomingMessage]
  t.equal(response.statusCode, 503)
  response.resume()
  t.same(await one.database.query('select from webhook where account_id = $1', [accountId]), [])
})

t.test('a client that leaves while its cell is looked for is noticed', async (t) => {
  const gone = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const forwarded: string[] = []
  const url = await startStub(t, async (request, response) => {
    if (request.url !== '/router/credentials') return void forwarded.push(request.url ?? '')
    gone.resolve()
    await answer.promise
    const { nonce = '' } = (await json(request)) as { readonly nonce?: string }
    const claims = [first, second].map(({ key }) =>
      claimOf(createKeyHash(testPepper)(key), Buffer.from(nonce, 'hex'), true),
    )
    response.end(JSON.stringify({ data: { claims: claims.map(({ proof }) => ({ proof, is_served: true })) } }))
  })
  const empty = await startStub(t, (_request, response) => response.end('{"data":{"claims":[]}}'))
  const router = await startRouter(t, { one: url, two: empty }, publicUrl)
  const leaving = new AbortController()
  const asked = fetch(`${router.baseUrl}/v1/account`, { headers: first.headers, signal: leaving.signal })
  await gone.promise
  leaving.abort()
  await t.rejects(asked)
  answer.resolve()
  const staying = new AbortController()
  const stayed = fetch(`${router.baseUrl}/v1/account`, { headers: second.headers, signal: staying.signal })
  await eventually(() => forwarded.length > 0)
  t.equal(forwarded.length, 1, 'only the request of the client that stayed')
  staying.abort()
  await t.rejects(stayed)
})

t.test(
  'router: a cell that claims every credential gets none, and learns no more than a prefix of its hash',
  async (t) => {
    const seen: string[] = []
    const url = await startStub(t, async (request, response) => {
      const body = await readText(request)
      seen.push([request.url, ...request.rawHeaders, body].join(' '))
      if (request.url !== '/router/credentials') return void response.end('{}')
      const { prefix = '', nonce = '' } = JSON.parse(body) as { readonly prefix?: string; readonly nonce?: string }
      const guess = claimOf(Buffer.from(prefix, 'hex'), Buffer.from(nonce, 'hex'), true)
      const claims = [
        { proof: guess.proof, is_served: true },
        { proof: nonce, is_served: true },
      ]
      response.end(JSON.stringify({ data: { is_known: true, claims } }))
    })
    const router = await startRouter(t, { compromised: url, two: two.baseUrl }, publicUrl)
    t.match(await dataOf(await second.get('account', {}, router.baseUrl)), { id: second.accountId })
    const { token } = await createSignInLink(two.database, {
      accountId: second.accountId,
      role: 'owner',
      pepper: testPepper,
    })
    const signedIn = await fetch(`${router.baseUrl}/console/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: publicUrl },
      body: JSON.stringify({ token }),
    })
    t.equal(signedIn.status, 201)
    const cookie = `a=b; ${signedIn.headers.get('set-cookie')?.split(';')[0]}`
    t.equal((await fetch(`${router.baseUrl}/console/api/session`, { headers: { cookie } })).status, 200)
    await fetch(`${router.baseUrl}/console/`, { headers: { cookie } })
    await fetch(`${router.baseUrl}/v1/openapi.json`, { headers: second.headers })
    const created = await dataOf(await second.post('screenshots', page))
    await second.get(`screenshots/${String(created['id'])}?wait=30`)
    const signed = await dataOf(await second.post(`screenshots/${String(created['id'])}/signed-url`, {}))
    const link = String(signed['url'])
    t.equal(await (await fetch(link.replace(publicUrl, router.baseUrl))).text(), 'of two')
    t.ok(seen.length >= 5)
    t.ok(seen.some((request) => request.startsWith('/console/ ') && request.includes('a=b')))
    const session = cookie.split('=').at(-1) ?? ''
    const secrets = [
      second.key,
      token,
      session,
      new URL(link).searchParams.get('signature') ?? '',
      String(created['id']),
    ]
    for (const secret of secrets)
      t.notOk(
        seen.some((request) => request.includes(secret)),
        secret,
      )
  },
)

t.test('a body that belongs to no account goes to the first cell alone', async (t) => {
  const dead = await startRouter(t, { dead: 'http://127.0.0.1:9', two: two.baseUrl }, publicUrl)
  t.equal((await fetch(`${dead.baseUrl}/v1/screenshots`, { method: 'POST', body: '{}' })).status, 503)
  t.match(await metricsOf(dead.probeUrl), /router_requests_total\{cell="dead",status="failed",.*\} 1/)
  t.notMatch(await metricsOf(dead.probeUrl), /router_requests_total\{cell="two"[^}]*\} [1-9]/)
})

t.test('what nobody could have as a credential does not make a cell silent', async (t) => {
  const fresh = await startRouter(t, { one: one.baseUrl, two: two.baseUrl }, publicUrl)
  const jsonHeaders = { 'content-type': 'application/json', origin: publicUrl }
  for (const token of ['', 'x'.repeat(200), 'x'.repeat(201)])
    await fetch(`${fresh.baseUrl}/console/api/session`, {
      method: 'POST',
      headers: jsonHeaders,
      body: JSON.stringify({ token }),
    })
  t.equal((await second.get('account', {}, fresh.baseUrl)).status, 200)
  t.notMatch(await metricsOf(fresh.probeUrl), /router_cells_silent_total\{[^}]*\} [1-9]/)
})

t.test('a request without one host is refused', async (t) => {
  const { send } = createRawClient(t, baseUrl)
  const authorization = `Authorization: ${first.headers.authorization}`
  const twice = await send(rawHead('GET /v1/account', ['Host: a', 'Host: b', authorization]))
  t.equal(twice?.status, 400)
})

import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import t from 'tap'
import { createAccount, setDisabled } from '#shared/db/accounts.ts'
import { createSignInLink } from '#shared/db/sign-in-links.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { removeExpiredRows } from '#ledger/remove-expired-rows.ts'
import { codeOf, postToken, sendJson, signIn } from '#test/helpers/console-client.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { routes } from '#gateway/routes.ts'

const gateway = await startGateway(t, {
  STREAM_SECONDS: '20',
  SESSION_REQUESTS_PER_MINUTE: '100',
  ADMIN_PORT: '0',
  ADMIN_TOKEN: 'a-token-of-the-operator',
})
const { database, baseUrl, adminUrl } = gateway
await replacePlans(database, defaultPlans)

const newAccount = async (plan = 'unlimited') => {
  const { id } = await createAccount(database, { name: 'Acme', email: 'a@example.com', plan })
  const { key } = await createKey(database, { accountId: id, name: 'k', domains: [], pepper: testPepper })
  return { id, key }
}
const owner = async () => signIn(gateway, (await newAccount()).id, 'owner')

/** Deletes the session; `fetch` sends no `Host` of ours. Resolves to the status. */
const sendWithHost = async (headers: Readonly<Record<string, string>>): Promise<number | undefined> => {
  const sent = request(`${baseUrl}/console/api/session`, { method: 'DELETE', headers }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode
}
const missing = '99999999-9999-4999-8999-999999999999'
const url = 'https://example.com/'

// Contract: Sign-in link
// Contract: Session cookie
t.test('sign-in link: signs in once, for 15 minutes, with the cookie that scripts cannot read', async (t) => {
  const { id } = await newAccount('pro')
  const { token, session, setCookie, call } = await signIn(gateway, id, 'member')
  t.match(setCookie, /^shutterfleet_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
  t.match(session, { account: { id, name: 'Acme', plan: 'pro' }, role: 'member' })
  const seconds = (Date.parse(session.expires_at) - Date.parse(session.created_at)) / 1000
  t.same([seconds, (Date.parse(session.idle_expires_at) - Date.parse(session.created_at)) / 1000], [43_200, 3600])
  t.same(await codeOf(await postToken(baseUrl, token)), [401, 'UNAUTHORIZED'], 'a used link')
  t.same(await codeOf(await postToken(baseUrl, 'x'.repeat(43))), [401, 'UNAUTHORIZED'], 'an unknown link')
  t.same(await (await call('GET', '/console/api/session')).json(), session)

  const { token: late, expiresAt } = await createSignInLink(database, {
    accountId: id,
    role: 'owner',
    pepper: testPepper,
  })
  t.ok(Math.abs(expiresAt.getTime() - Date.now() - 900_000) < 60_000)
  await database.query('update sign_in_link set expires_at = now()')
  t.same(await codeOf(await postToken(baseUrl, late)), [401, 'UNAUTHORIZED'], 'an expired link')
})

// Contract: Sign-in link
t.test('sign-in link: of concurrent uses one signs in', async (t) => {
  const { id } = await newAccount()
  const { token } = await createSignInLink(database, { accountId: id, role: 'owner', pepper: testPepper })
  const answers = await Promise.all(Array.from({ length: 8 }, () => postToken(baseUrl, token)))
  t.same(answers.filter(({ status }) => status === 201).length, 1)
  t.same(answers.filter(({ status }) => status === 401).length, 7)
})

// Contract: Session changes
t.test('sign-in link: a page of another origin cannot sign its visitor in', async (t) => {
  const { id } = await newAccount()
  const { token } = await createSignInLink(database, { accountId: id, role: 'owner', pepper: testPepper })
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
    t.same(await codeOf(await postToken(baseUrl, token, headers)), [403, 'FORBIDDEN'])
  t.equal((await postToken(baseUrl, token, { origin: baseUrl })).status, 201, 'the link was not used up')
})

/** The audit entries of sessions that name one of these as target, oldest first. */
const sessionEntries = (...targets: readonly string[]) =>
  database.query<{ actor: string; action: string; target: string; detail: object }>(
    `select actor, action, target, detail from audit_entry where action like 'session.%' and target = any ($1) order by at, action`,
    [targets],
  )
const currentId = async ({ call }: Awaited<ReturnType<typeof signIn>>) => {
  const { data } = (await (await call('GET', '/console/api/sessions')).json()) as {
    data: { id: string; is_current: boolean }[]
  }
  return data.find(({ is_current: isCurrent }) => isCurrent)?.id ?? ''
}

// Contract: Sign-in link
// Contract: Session changes
t.test('sign-in link: replaces who is signed in only with the token of that session, which ends', async (t) => {
  const [victim, attacker] = [await owner(), await newAccount()]
  const id = await currentId(victim)
  const { token } = await createSignInLink(database, { accountId: attacker.id, role: 'member', pepper: testPepper })
  const shown = await victim.call('POST', '/console/api/sign-in', { body: { token } })
  t.match(await shown.json(), {
    account: { id: attacker.id, name: 'Acme' },
    role: 'member',
    email: null,
    replaces: true,
  })
  const { cookie } = victim
  t.same(await codeOf(await postToken(baseUrl, token, { cookie })), [403, 'FORBIDDEN'])
  t.same(await codeOf(await postToken(baseUrl, token, { cookie, 'x-csrf-token': 'x'.repeat(43) })), [403, 'FORBIDDEN'])
  t.equal((await victim.call('GET', '/v1/account')).status, 200)
  const wrong = { body: { token: 'x'.repeat(43) } }
  t.same(await codeOf(await victim.call('POST', '/console/api/session', wrong)), [401, 'UNAUTHORIZED'])
  t.equal((await victim.call('GET', '/v1/account')).status, 200, 'a link that does not work ends nothing')

  const replaced = await victim.call('POST', '/console/api/session', { body: { token } })
  t.match([replaced.status, await replaced.json()], [201, { account: { id: attacker.id }, role: 'member' }])
  t.equal((await victim.call('GET', '/v1/account')).status, 401, 'the session that it replaces has ended')
  const [next] = await database.query<{ id: string }>('select id from console_session where account_id = $1', [
    attacker.id,
  ])
  const nextId = next?.id ?? ''
  const from = { how: 'link', from: '127.0.0.1' }
  t.match(await sessionEntries(id, nextId), [
    { actor: `session:${id}`, action: 'session.begin', target: id, detail: from },
    {
      actor: `session:${nextId}`,
      action: 'session.begin',
      target: nextId,
      detail: { ...from, account: attacker.id, role: 'member', replaces: id },
    },
    { actor: `session:${nextId}`, action: 'session.end', target: id, detail: { how: 'replaced', from: '127.0.0.1' } },
  ])
  t.same(await codeOf(await sendJson(`${baseUrl}/console/api/sign-in`, 'POST', { body: { token } })), [
    401,
    'UNAUTHORIZED',
  ])
})

// Contract: Audit log
t.test(
  'sign-in link: how a session ends, and what fails, is in the audit log, some failures of a client',
  async (t) => {
    const { id } = await newAccount()
    const [one, other, third] = [
      await signIn(gateway, id, 'owner'),
      await signIn(gateway, id, 'member'),
      await signIn(gateway, id, 'viewer'),
    ]
    const ids = [await currentId(one), await currentId(other), await currentId(third)]
    await one.call('DELETE', `/console/api/sessions/${ids[1]}`)
    await one.call('DELETE', '/console/api/session')
    await database.query('update console_session set idle_expires_at = now() where id = $1', [ids[2]])
    await removeExpiredRows({ database, events: { rowsRemoved: () => {} } })
    const ended = (await sessionEntries(...ids)).filter(({ action }) => action === 'session.end')
    t.match(ended, [
      { actor: `session:${ids[0]}`, target: ids[1], detail: { how: 'ended by another session', from: '127.0.0.1' } },
      { actor: `session:${ids[0]}`, target: ids[0], detail: { how: 'signed out', account: id, role: 'owner' } },
      { actor: 'system', target: ids[2], detail: { how: 'expired' } },
    ])
    const replica = await gateway.startReplica()
    const before = (await sessionEntries('127.0.0.1')).length
    for (let index = 0; index < 15; index += 1) await postToken(replica.baseUrl, 'x'.repeat(43))
    const failed = (await sessionEntries('127.0.0.1')).slice(before)
    t.match(failed[0], {
      actor: 'unknown',
      action: 'session.fail',
      detail: { how: 'link', reason: 'UNAUTHORIZED', from: '127.0.0.1' },
    })
    t.ok(failed.length >= 5 && failed.length <= 7, `${failed.length}`)
  },
)

// Contract: Session cookie
t.test('sign-in link: an operator creates it, the database keeps neither it nor the cookie', async (t) => {
  const { id } = await newAccount()
  const create = (body: unknown, of = id) =>
    sendJson(`${adminUrl}/admin/v1/accounts/${of}/sign-in-links`, 'POST', {
      body,
      headers: { authorization: 'Bearer a-token-of-the-operator' },
    })
  const { data } = (await (await create({ role: 'viewer' })).json()) as { data: { url: string; expires_at: string } }
  const [page, token = ''] = data.url.split('#token=')
  t.equal(page, `${baseUrl}/console/sign-in`)
  const answer = await postToken(baseUrl, token)
  t.match(await answer.json(), { role: 'viewer' })
  const cookie = /=([\w-]{43})/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? ''
  const stored = JSON.stringify([
    await database.query('select s::text from console_session s'),
    await database.query('select s::text from sign_in_link s'),
    await database.query('select a::text from audit_entry a'),
  ])
  for (const secret of [token, cookie].flatMap((each) => [each, Buffer.from(each).toString('hex')]))
    t.notOk(stored.includes(secret))
  t.same(await codeOf(await create({}, missing)), [404, 'NOT_FOUND'])
  t.same(await codeOf(await create({ role: 'king' })), [422, 'VALIDATION_ERROR'])
})

// Contract: Roles
t.test('session: a viewer reads, and may only sign out', async (t) => {
  const { call } = await signIn(gateway, (await newAccount()).id, 'viewer')
  for (const path of ['/v1/account', '/v1/screenshots', '/v1/webhooks', '/console/api/sessions'])
    t.equal((await call('GET', path)).status, 200, path)
  const body = { url }
  for (const [method, path] of [
    ['POST', '/v1/screenshots'],
    ['POST', '/v1/webhooks'],
    ['DELETE', `/v1/screenshots/${missing}`],
    ['DELETE', `/console/api/sessions/${missing}`],
  ] as const)
    t.same(await codeOf(await call(method, path, { body })), [403, 'FORBIDDEN'], `${method} ${path}`)
  t.same(await codeOf(await call('GET', `/v1/screenshots/capture?url=${url}`)), [403, 'FORBIDDEN'])
  t.equal((await call('DELETE', '/console/api/session')).status, 204)
})

// Contract: Session changes
t.test('session: what changes state needs the CSRF token and comes from the console', async (t) => {
  const { call, cookie, session } = await owner()
  const refused = [
    { 'x-csrf-token': '' },
    { 'x-csrf-token': 'x'.repeat(43) },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://console.attacker.example' },
  ]
  const requests = [
    ['POST', '/v1/screenshots'],
    ['POST', '/v1/screenshots/batch'],
    ['DELETE', `/v1/screenshots/${missing}`],
    ['GET', `/v1/screenshots/capture?url=${url}`],
    ['DELETE', '/console/api/session'],
  ] as const
  for (const [method, path] of requests)
    for (const headers of refused)
      t.same(await codeOf(await call(method, path, { headers })), [403, 'FORBIDDEN'], `${method} ${path}`)
  for (const [method, path] of [...requests, ['GET', '/v1/account'] as const])
    for (const site of ['cross-site', 'same-site'])
      t.equal((await call(method, path, { headers: { 'sec-fetch-site': site } })).status, 401, 'without its cookie')
  t.same(await database.query('select from capture'), [])
  const rebound = { origin: 'http://console.attacker.example:1', host: 'console.attacker.example:1' }
  t.equal(await sendWithHost({ ...rebound, cookie, 'x-csrf-token': session.csrf_token }), 403, 'whatever Host says')
  t.equal((await call('GET', '/v1/account', { headers: { 'x-csrf-token': '' } })).status, 200)
  const sameOrigin = { origin: baseUrl, 'sec-fetch-site': 'same-origin' }
  t.equal((await call('POST', '/v1/screenshots', { body: { url }, headers: sameOrigin })).status, 202)
  t.equal((await call('POST', '/v1/screenshots/batch', { body: { urls: [url] } })).status, 202)
})

// Contract: Session requests
t.test('session: a key wins over the cookie, whatever it says', async (t) => {
  const { call } = await owner()
  const other = await newAccount()
  const accountOf = async (answer: Response) => ((await answer.json()) as { data: { id: string } }).data.id
  t.equal(
    await accountOf(await call('GET', '/v1/account', { headers: { authorization: `Bearer ${other.key}` } })),
    other.id,
  )
  const wrong = { authorization: `Bearer sk_live_${'x'.repeat(40)}` }
  t.same(await codeOf(await call('GET', '/v1/account', { headers: wrong })), [401, 'INVALID_API_KEY'])
})

// Contract: Session end
t.test('session: after the sign-out its cookie is refused by every operation', async (t) => {
  const { call, cookie } = await owner()
  const signedOut = await call('DELETE', '/console/api/session')
  t.match(signedOut.headers.get('set-cookie'), /^shutterfleet_session=; .*Max-Age=0$/)
  const own = [
    ['GET', '/console/api/session'],
    ['DELETE', '/console/api/session'],
    ['GET', '/console/api/sessions'],
    ['DELETE', `/console/api/sessions/${missing}`],
  ]
  const guarded = routes.filter(({ access }) => access === 'key' || access === 'link')
  const ours = guarded.map(({ method, path }) => [method, `/v1${path.replaceAll(/:\w+/g, missing)}`])
  for (const [method = '', path = ''] of [...own, ...ours]) {
    t.equal((await call(method, path)).status, 401, `${method} ${path}`)
    t.equal((await sendJson(baseUrl + path, method, { headers: { cookie } })).status, 401, `${method} ${path}`)
  }
  t.equal((await call('GET', '/v1/openapi.json')).status, 200)
  const link = `/v1/screenshots/${missing}/image?kid=test&signature=${'0'.repeat(64)}`
  t.same(await codeOf(await call('GET', link)), [403, 'INVALID_SIGNATURE'], 'a link needs no session')
})

// Contract: Session end
t.test('session: ends when idle, and finally however it is used; the ledger deletes what has ended', async (t) => {
  const { id } = await newAccount()
  const used = await signIn(gateway, id, 'owner')
  const before = `now() - interval '5 minutes'`
  await database.query(
    `update console_session set last_seen_at = ${before}, idle_expires_at = now() + interval '1 minute'`,
  )
  const extended = (await (await used.call('GET', '/console/api/session')).json()) as typeof used.session
  t.ok(Date.parse(extended.idle_expires_at) - Date.now() > 3_000_000)
  const seen = `select last_seen_at = date_trunc('minute', now()) as now from console_session where account_id = $1`
  t.same(await database.query(seen, [id]), [{ now: true }])

  await database.query(`update console_session set last_seen_at = ${before}, expires_at = now() + interval '1 second'`)
  const last = (await (await used.call('GET', '/console/api/session')).json()) as typeof used.session
  t.equal(last.idle_expires_at, last.expires_at)
  await eventually(async () => (await used.call('GET', '/v1/account')).status === 401)

  const idle = await signIn(gateway, id, 'owner')
  await database.query('update console_session set idle_expires_at = now()')
  t.same(await codeOf(await idle.call('GET', '/v1/account')), [401, 'UNAUTHORIZED'])

  await createSignInLink(database, { accountId: id, role: 'owner', pepper: testPepper })
  await database.query('update sign_in_link set expires_at = now()')
  const open = await signIn(gateway, id, 'owner')
  await removeExpiredRows({ database, events: { rowsRemoved: () => {} } })
  t.match(await database.query('select id from console_session'), [{}])
  t.same(await database.query('select from sign_in_link'), [])
  t.equal((await open.call('GET', '/v1/account')).status, 200)
})

// Contract: Own sessions
t.test('session: sees and ends those of its own account alone', async (t) => {
  const [one, other] = [await owner(), await owner()]
  const second = await signIn(gateway, one.session.account.id, 'member')
  type List = { data: { id: string; role: string; is_current: boolean; address: string; user_agent: string }[] }
  const list = async (of: typeof one) => ((await (await of.call('GET', '/console/api/sessions')).json()) as List).data
  t.match((await list(one)).map(({ role, is_current: own }) => `${role} ${own}`).toSorted(), [
    'member false',
    'owner true',
  ])
  t.match(await list(other), [{ role: 'owner', is_current: true, address: '127.0.0.1', user_agent: 'node' }])
  const foreign = `/console/api/sessions/${(await list(other))[0]?.id}`
  t.same(await codeOf(await one.call('DELETE', foreign)), [404, 'NOT_FOUND'])
  const own = (await list(one)).find(({ is_current: current }) => !current)
  t.equal((await one.call('DELETE', `/console/api/sessions/${own?.id}`)).status, 204)
  t.equal((await second.call('GET', '/v1/account')).status, 401)
  t.equal((await other.call('GET', '/v1/account')).status, 200)

  const { data } = (await (await one.call('POST', '/v1/screenshots', { body: { url } })).json()) as {
    data: { id: string }
  }
  t.equal((await one.call('GET', `/v1/screenshots/${data.id}`)).status, 200)
  t.same(await codeOf(await other.call('GET', `/v1/screenshots/${data.id}`)), [404, 'NOT_FOUND'])
  await setDisabled(database, one.session.account.id, true)
  for (const path of ['/v1/account', '/console/api/session'])
    t.same(await codeOf(await one.call('GET', path)), [401, 'UNAUTHORIZED'], 'of a disabled account')
})

// Contract: Session requests
t.test('session: its captures count against the minute of the plan, as those of a key do', async (t) => {
  const { id, key } = await newAccount('free')
  const { call } = await signIn(gateway, id, 'owner')
  const statuses: number[] = []
  for (let index = 0; index < 7; index += 1)
    statuses.push((await call('POST', '/v1/screenshots', { body: { url } })).status)
  // A minute that begins meanwhile counts anew.
  t.ok(statuses.includes(429), statuses.join(' '))
  t.equal(statuses[0], 202)
  t.equal((await call('GET', '/v1/account')).status, 200, 'reads are not limited by it')
  const headers = { authorization: `Bearer ${key}` }
  t.same(await codeOf(await sendJson(`${baseUrl}/v1/account`, 'GET', { headers })), [429, 'RATE_LIMIT_EXCEEDED'])
})

// Contract: Session requests
t.test('session: has a rate limit of its own, and reads do not count against that of the account', async (t) => {
  const { id, key } = await newAccount('free')
  const { call } = await signIn(gateway, id, 'owner')
  const sent: Response[] = []
  // Fewer at a time than requests of an account may wait for PostgreSQL.
  for (let wave = 0; wave < 5; wave += 1)
    sent.push(...(await Promise.all(Array.from({ length: 50 }, () => call('GET', '/v1/account')))))
  const withStatus = (status: number) => sent.filter((each) => each.status === status).length
  t.same([withStatus(200) >= 100, withStatus(429) > 0, withStatus(200) + withStatus(429)], [true, true, 250])
  const answer = await sendJson(`${baseUrl}/v1/account`, 'GET', { headers: { authorization: `Bearer ${key}` } })
  t.same(
    [answer.status, answer.headers.get('x-ratelimit-remaining')],
    [200, String(Number(answer.headers.get('x-ratelimit-limit')) - 1)],
  )
})

// Contract: Session requests
// Contract: Session end
t.test('session: responses stay out of caches, and streams end with it', async (t) => {
  const { call } = await owner()
  const account = await call('GET', '/v1/account')
  t.same([account.headers.get('cache-control'), account.headers.get('vary')], ['no-store', 'Cookie'])
  const { data } = (await (await call('POST', '/v1/screenshots', { body: { url } })).json()) as { data: { id: string } }
  const stream = await call('GET', `/v1/screenshots/${data.id}/events`)
  t.equal(stream.status, 200)
  await database.query('update console_session set idle_expires_at = now()')
  t.match(await stream.text(), /event: unauthorized/)
})

// Contract: Session cookie
t.test('session: behind a public https URL the cookie is sent over TLS only', async (t) => {
  const secure = await startGateway(t, { PUBLIC_URL: 'https://shots.example.com' }, gateway.postgres)
  await replacePlans(secure.database, defaultPlans)
  const account = await createAccount(secure.database, { name: 'A', email: 'a@example.com', plan: 'unlimited' })
  const { setCookie, call } = await signIn(secure, account.id, 'owner')
  t.match(setCookie, /^__Host-shutterfleet_session=.*; Path=\/;.*; Secure$/)
  const headers = { origin: 'https://shots.example.com', 'sec-fetch-site': 'same-origin' }
  t.equal((await call('POST', '/v1/screenshots', { body: { url }, headers })).status, 202)
})

import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { confirmReturn, sendJson, signIn, signInBy } from '#test/helpers/console-client.ts'
import { oidcClient, type OidcLies, signInAtProvider, startOidcProvider } from '#test/helpers/oidc-provider.ts'
import { startGateway } from '#test/helpers/running-gateway.ts'

const port = await freePort()
const baseUrl = `http://127.0.0.1:${port}`
const callback = `${baseUrl}/console/sign-in/oidc/callback`
const provider = await startOidcProvider(t, {
  redirectUris: [callback],
  people: {
    ada: { email: 'Ada@example.com', email_verified: true },
    bob: { email: 'bob@example.com', email_verified: true },
    eve: { email: 'ada@example.com', email_verified: false },
    ivy: { email: 'ada@example.com' },
    sam: {},
  },
})
const gateway = await startGateway(t, {
  GATEWAY_PORT: String(port),
  PUBLIC_URL: baseUrl,
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: oidcClient.id,
  OIDC_CLIENT_SECRET: oidcClient.secret,
})
const { database } = gateway
await replacePlans(database, defaultPlans)

const newAccount = async (name: string) =>
  (await createAccount(database, { name, email: 'a@example.com', plan: 'unlimited' })).id

const addMember = (accountId: string, email: string, role = 'member') =>
  database.query(
    `insert into member (id, account_id, email, role, added_by, created_at) values ($1, $2, $3, $4, 'system', now()) returning id`,
    [randomUUID(), accountId, email, role],
  )

const acme = await newAccount('Acme')
await addMember(acme, 'ada@example.com')

const visit = (url: string, cookie = '') => fetch(url, { redirect: 'manual', headers: { cookie } })
/** Where an answer leads to, without the token of a return that has to be confirmed. */
const signInPage = (answer: Response) => [answer.status, answer.headers.get('location')?.split('#')[0]]
const returned = (to: string) => [303, `/console/sign-in?${new URLSearchParams({ to }).toString()}`]
const failure = (reason: string) => [303, `/console/sign-in?error=${reason}`]
const cookieOf = (answer: Response) => answer.headers.get('set-cookie')?.split(';')[0] ?? ''
const start = async (to = '') => {
  const answer = await visit(`${baseUrl}/console/sign-in/oidc?to=${encodeURIComponent(to)}`)
  return { answer, cookie: cookieOf(answer), location: answer.headers.get('location') ?? '' }
}

/** Starts, signs in at the provider and returns from it. */
const signInAs = async (login: string, to = '') => {
  const { cookie, location } = await start(to)
  const back = await signInAtProvider(location, login)
  return { cookie, back, answer: await visit(back, cookie) }
}
const confirm = (answer: Response) => confirmReturn(baseUrl, answer)
const sessionOf = async (answer: Response) =>
  (await visit(`${baseUrl}/console/api/session`, cookieOf(await confirm(answer)))).json() as Promise<
    Record<string, unknown>
  >
const countSessions = async () => (await database.query('select from console_session')).length

// Contract: Sign-in with a provider
t.test('sign-in with the provider: a member gets a session of the account and returns to the page', async (t) => {
  const { answer } = await signInAs('ada', '/console/captures?status=failed')
  t.same(signInPage(answer), returned('/console/captures?status=failed'))
  t.match(await sessionOf(answer), { account: { id: acme, name: 'Acme' }, role: 'member', email: 'ada@example.com' })
  const member = 'select issuer, subject, last_sign_in_at is not null as used from member where account_id = $1'
  t.match(await database.query(member, [acme]), [{ issuer: provider.issuer, subject: 'ada', used: true }])
})

// Contract: Sign-in with a provider
t.test(
  'sign-in with the provider: a link that an owner uses in the name of a member leads into no other account',
  async (t) => {
    const other = await newAccount('Other')
    const owner = await signIn(gateway, other, 'owner')
    const fields = { email: 'ada@example.com', role: 'viewer' }
    const { data } = (await (await owner.call('POST', '/v1/members', { body: fields })).json()) as {
      data: { id: string }
    }
    const useLink = async () => {
      const made = await owner.call('POST', `/v1/members/${data.id}/sign-in-link`)
      const { url } = ((await made.json()) as { data: { url: string } }).data
      return await signInBy(gateway, url.split('#token=')[1] ?? '')
    }
    const before = await useLink()
    const { answer } = await signInAs('ada')
    t.match(await sessionOf(answer), { account: { id: acme } }, 'nor does it decide where the person begins')
    for (const session of [before, await useLink()]) {
      t.match(await (await session.call('GET', '/console/api/session')).json(), {
        account: { id: other },
        role: 'viewer',
      })
      const moved = await session.call('POST', '/console/api/session/account', { body: { account_id: acme } })
      t.equal(moved.status, 404)
      t.same(await (await session.call('GET', '/console/api/accounts')).json(), { data: [] })
    }
    let cookie = cookieOf(await confirm((await signInAs('ada')).answer))
    for (const id of [other, acme, other, acme]) {
      const session = await visit(`${baseUrl}/console/api/session`, cookie)
      const { csrf_token: token } = (await session.json()) as { csrf_token: string }
      const headers = { cookie, origin: baseUrl, 'x-csrf-token': token }
      const moved = await sendJson(`${baseUrl}/console/api/session/account`, 'POST', {
        body: { account_id: id },
        headers,
      })
      t.equal(moved.status, 204, 'whom the provider has identified switches')
      cookie = cookieOf(moved)
    }
  },
)

// Contract: Sign-in with a provider
t.test(
  'sign-in with the provider: asks for a code with PKCE, state and nonce, in a cookie that scripts cannot read',
  async (t) => {
    const { answer, location } = await start()
    t.match(Object.fromEntries(new URL(location).searchParams), {
      response_type: 'code',
      client_id: oidcClient.id,
      redirect_uri: callback,
      scope: 'openid email',
      code_challenge_method: 'S256',
      code_challenge: /^[\w-]{43}$/,
      state: /^[\w-]{43}$/,
      nonce: /^[\w-]{43}$/,
    })
    t.match(
      answer.headers.get('set-cookie'),
      /^shutterfleet_sign_in=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
    )
    t.equal(answer.headers.get('referrer-policy'), 'no-referrer')
  },
)

// Contract: Sign-in with a provider
t.test('sign-in with the provider: returns only to the browser that started it, with its state, once', async (t) => {
  const { cookie, back, answer } = await signInAs('ada')
  t.same(signInPage(answer), returned('/console'))
  const before = await countSessions()
  t.same(signInPage(await visit(back, cookie)), failure('failed'), 'the provider accepts the code once')

  const fresh = async () => {
    const { cookie: own, location } = await start()
    return { own, url: new URL(await signInAtProvider(location, 'ada')) }
  }
  const { url } = await fresh()
  t.same(signInPage(await visit(url.href)), failure('expired'), 'without the cookie: a login by another site')
  t.same(
    signInPage(await visit(url.href, (await start()).cookie)),
    failure('expired'),
    'with the cookie of another start',
  )
  const { own, url: other } = await fresh()
  other.searchParams.set('state', 'x'.repeat(43))
  t.same(signInPage(await visit(other.href, own)), failure('expired'), 'a wrong state')
  other.searchParams.delete('state')
  t.same(signInPage(await visit(other.href, own)), failure('expired'), 'no state')
  t.equal(await countSessions(), before)
})

// Contract: Sign-in with a provider
t.test('sign-in with the provider: works once even if the provider accepts the code again', async (t) => {
  const { cookie, location } = await start()
  const state = new URL(location).searchParams.get('state') ?? ''
  const before = await countSessions()
  const codes = await Promise.all([location, location].map((each) => signInAtProvider(each, 'ada')))
  const answers = await Promise.all(codes.map((each) => visit(each, cookie)))
  const locations = answers.map((each) => signInPage(each)[1])
  t.same(new Set(locations), new Set([returned('/console')[1], '/console/sign-in?error=expired']))
  t.equal(await countSessions(), before, 'a return alone signs nobody in')
  await Promise.all(answers.map(confirm))
  t.equal(await countSessions(), before + 1)
  t.match(codes[0], state)
})

// Contract: Sign-in with a provider
t.test(
  'sign-in with the provider: the cookie ends after ten minutes, and none of its parts can be changed',
  async (t) => {
    const late = await gateway.startReplica(601_000)
    const { cookie, location } = await start('/console/keys')
    const back = new URL(await signInAtProvider(location, 'ada'))
    t.same(signInPage(await visit(`${late.baseUrl}${back.pathname}${back.search}`, cookie)), failure('expired'))
    const [name, value = ''] = cookie.split('=')
    const [startedAt, secret] = value.split('.')
    const changed = [
      `${Number(startedAt) + 600}.${secret}.${value.split('.')[2]}`,
      `${startedAt}.${secret}.L2NvbnNvbGU`,
    ]
    for (const each of changed) t.same(signInPage(await visit(back.href, `${name}=${each}`)), failure('expired'))
    t.same(signInPage(await visit(back.href, cookie)), returned('/console/keys'), 'it was not used up')
  },
)

// Contract: Sign-in with a provider
t.test('sign-in with the provider: refuses ID tokens that are not meant for this sign-in', async (t) => {
  const now = () => Math.floor(Date.now() / 1000)
  const address = { email: 'ada@example.com', email_verified: true }
  const cases: readonly (readonly [string, OidcLies])[] = [
    ['another nonce', { idToken: (claims) => ({ ...claims, nonce: 'x'.repeat(43) }) }],
    ['no nonce', { idToken: (claims) => ({ ...claims, nonce: undefined }) }],
    ['another audience', { idToken: (claims) => ({ ...claims, aud: 'another' }) }],
    ['another issuer', { idToken: (claims) => ({ ...claims, iss: 'https://evil.example' }) }],
    ['expired', { idToken: (claims) => ({ ...claims, iat: now() - 7200, exp: now() - 3600 }) }],
    ['a signature of another key', { isForged: true }],
    ['another person than the user info', { idToken: (claims) => ({ ...claims, sub: 'bob' }) }],
    ['U+0000 in the subject', { idToken: (claims) => ({ ...claims, ...address, sub: 'ada\0' }) }],
    ['U+0000 in the address', { idToken: (claims) => ({ ...claims, ...address, email: 'ada\0@example.com' }) }],
  ]
  const before = await countSessions()
  for (const [name, lies] of cases) {
    Object.assign(provider.lies, { idToken: undefined, isForged: false }, lies)
    t.same(signInPage((await signInAs('ada')).answer), failure('failed'), name)
  }
  Object.assign(provider.lies, { idToken: undefined, isForged: false })
  t.equal(await countSessions(), before)
  t.same(signInPage((await signInAs('ada')).answer), returned('/console'))
})

// Contract: Sign-in with a provider
t.test(
  'sign-in with the provider: an address counts if the provider has verified it, and only for the first sign-in',
  async (t) => {
    const id = await newAccount('Verified')
    await addMember(id, 'bob@example.com')
    for (const login of ['eve', 'ivy', 'sam'])
      t.same(signInPage((await signInAs(login)).answer), failure('unverified'), login)
    provider.people['bob'] = { email: 'bob@elsewhere.example', email_verified: true }
    t.same(signInPage((await signInAs('bob')).answer), failure('no_account'))
    provider.people['bob'] = { email: 'bob@example.com', email_verified: true }
    t.same(signInPage((await signInAs('bob')).answer), returned('/console'))

    provider.people['bob'] = { email: 'bob@elsewhere.example', email_verified: true }
    t.match(await sessionOf((await signInAs('bob')).answer), { account: { id } }, 'a changed address')
    provider.people['zoe'] = { email: 'bob@example.com', email_verified: true }
    t.same(signInPage((await signInAs('zoe')).answer), failure('no_account'), 'a new owner of the address')
  },
)

// Contract: Sign-in with a provider
t.test('sign-in with the provider: returns to pages of the console alone', async (t) => {
  for (const to of [
    'https://evil.example/console',
    '//evil.example/console',
    '/\\evil.example/console',
    '/v1/keys',
    '/console/../v1/keys',
    '/console/api/session',
    '/console/sign-in',
    '/consoles',
    'javascript:alert(1)',
    `/console/${'x'.repeat(1000)}`,
  ])
    t.same(signInPage((await signInAs('ada', to)).answer), returned('/console'), to.slice(0, 40))
})

// Contract: Session end
t.test('sign-in with the provider: the cookie is refused after the sign-out', async (t) => {
  const cookie = cookieOf(await confirm((await signInAs('ada')).answer))
  const session = await visit(`${baseUrl}/console/api/session`, cookie)
  const { csrf_token: csrf } = (await session.json()) as { csrf_token: string }
  const headers = { cookie, 'x-csrf-token': csrf }
  t.equal((await fetch(`${baseUrl}/console/api/session`, { method: 'DELETE', headers })).status, 204)
  t.equal((await visit(`${baseUrl}/console/api/session`, cookie)).status, 401)
})

// Contract: Sign-in with a provider
t.test('sign-in with the provider: the errors of the provider lead back to the sign-in page', async (t) => {
  const { cookie, location } = await start()
  const state = new URL(location).searchParams.get('state') ?? ''
  const query = new URLSearchParams({ error: 'access_denied', state, iss: provider.issuer })
  t.same(signInPage(await visit(`${callback}?${query.toString()}`, cookie)), failure('refused'))
})

// Contract: Sign-in with a provider
t.test('sign-in with the provider: wrong returns of one client are limited', async (t) => {
  const { cookie, location } = await start()
  const state = new URL(location).searchParams.get('state') ?? ''
  const query = new URLSearchParams({ code: 'x', state, iss: provider.issuer })
  const answers = await Promise.all(Array.from({ length: 40 }, () => visit(`${callback}?${query.toString()}`, cookie)))
  const reasons = answers.map((each) => each.headers.get('location'))
  t.ok(reasons.includes('/console/sign-in?error=busy'))
})

// Contract: Sign-in with a provider
t.test(
  'sign-in with the provider: a gateway without a reachable provider starts, and signs in with links',
  async (t) => {
    const closed = `http://127.0.0.1:${await freePort()}`
    const down = await startGateway(
      t,
      { OIDC_ISSUER: closed, OIDC_CLIENT_ID: 'x', OIDC_NAME: 'Acme' },
      gateway.postgres,
    )
    t.same(signInPage(await visit(`${down.baseUrl}/console/sign-in/oidc`)), failure('provider'))
    t.same(await (await visit(`${down.baseUrl}/console/api/sign-in`)).json(), { provider: { name: 'Acme' } })
    await replacePlans(down.database, defaultPlans)
    const account = await createAccount(down.database, { name: 'A', email: 'a@example.com', plan: 'unlimited' })
    t.match((await signIn(down, account.id, 'viewer')).session, { role: 'viewer', email: null })
    const without = await startGateway(t, {}, gateway.postgres)
    t.same(await (await visit(`${without.baseUrl}/console/api/sign-in`)).json(), { provider: null })
    t.equal((await visit(`${without.baseUrl}/console/sign-in/oidc`)).status, 404)
  },
)

// Contract: Sign-in with a provider
t.test('sign-in with the provider: a public client needs no secret', async (t) => {
  const replica = await startGateway(
    t,
    { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: 'public', PUBLIC_URL: baseUrl },
    gateway.postgres,
  )
  const answer = await visit(`${replica.baseUrl}/console/sign-in/oidc`)
  const back = new URL(await signInAtProvider(answer.headers.get('location') ?? '', 'ada'))
  const answered = await visit(`${replica.baseUrl}${back.pathname}${back.search}`, cookieOf(answer))
  t.same(signInPage(answered), failure('no_account'), 'of the empty database of this gateway')
})

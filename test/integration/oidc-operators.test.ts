import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { confirmReturn } from '#test/helpers/console-client.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { oidcClient, signInAtProvider, startOidcProvider } from '#test/helpers/oidc-provider.ts'
import { startGateway } from '#test/helpers/running-gateway.ts'

const port = await freePort()
const baseUrl = `http://127.0.0.1:${port}`
const verified = (name: string) => ({ email: `${name}@example.com`, email_verified: true })
const provider = await startOidcProvider(t, {
  redirectUris: [`${baseUrl}/console/sign-in/oidc/callback`],
  people: {
    olga: { ...verified('olga'), groups: ['staff', 'shots-operators'] },
    omar: { ...verified('omar'), groups: 'shots-operators' },
    rita: { ...verified('rita'), groups: ['shots-readers'] },
    both: { ...verified('both'), groups: ['shots-readers', 'shots-operators'] },
    mona: { ...verified('mona'), groups: ['shots-operators'] },
    none: verified('none'),
    empty: { ...verified('empty'), groups: [] },
    similar: { ...verified('similar'), groups: ['shots-operators-old', 'Shots-Operators', ' shots-operators'] },
    joined: { ...verified('joined'), groups: 'staff shots-operators' },
    nested: { ...verified('nested'), groups: [['shots-operators']] },
    object: { ...verified('object'), groups: { 'shots-operators': true } },
    flag: { ...verified('flag'), groups: true },
    other: { ...verified('other'), roles: ['shots-operators'] },
  },
})
const operatorSettings = {
  PUBLIC_URL: baseUrl,
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: oidcClient.id,
  OIDC_CLIENT_SECRET: oidcClient.secret,
  OIDC_SCOPES: 'email,groups',
  OIDC_OPERATOR_CLAIM: 'groups',
  OIDC_OPERATOR_VALUES: 'admins,shots-operators',
  OIDC_READ_ONLY_OPERATOR_VALUES: 'shots-readers',
}
const gateway = await startGateway(t, { GATEWAY_PORT: String(port), ...operatorSettings })
const { database } = gateway
await replacePlans(database, defaultPlans)
const { id: acme } = await createAccount(database, { name: 'Acme', email: 'a@example.com', plan: 'unlimited' })
for (const name of ['mona', 'none'])
  await database.query(
    `insert into member (id, account_id, email, role, added_by, created_at) values ($1, $2, $3, 'member', 'system', now()) returning id`,
    [randomUUID(), acme, `${name}@example.com`],
  )

const visit = (url: string, cookie = '') => fetch(url, { redirect: 'manual', headers: { cookie } })
const cookieOf = (answer: Response) => answer.headers.get('set-cookie')?.split(';')[0] ?? ''

const signInAs = async (login: string) => {
  const started = await visit(`${baseUrl}/console/sign-in/oidc`)
  const cookie = cookieOf(started)
  const back = await signInAtProvider(started.headers.get('location') ?? '', login)
  return { back, cookie, answer: await confirmReturn(baseUrl, await visit(back, cookie)) }
}
const sessionOf = async (answer: Response) =>
  (await visit(`${baseUrl}/console/api/session`, cookieOf(answer))).json() as Promise<Record<string, unknown>>
const isRefused = (answer: Response) => answer.headers.get('location') === '/console/sign-in?error=no_account'

// Contract: Operators
t.test('operators by a claim: a value of it, alone or in a list, makes an operator or a read-only one', async (t) => {
  for (const [login, role] of [
    ['olga', 'operator'],
    ['omar', 'operator'],
    ['rita', 'operator_read_only'],
    ['both', 'operator'],
  ] as const) {
    const { answer } = await signInAs(login)
    t.match(await sessionOf(answer), { account: null, role }, login)
    const path = `${baseUrl}/console/api/operator/accounts`
    t.equal((await visit(path, cookieOf(answer))).status, 200, login)
  }
})

// Contract: Operators
t.test('operators by a claim: without it, and with values that are only similar, nobody is one', async (t) => {
  for (const login of ['empty', 'similar', 'joined', 'nested', 'object', 'flag', 'other'])
    t.ok(isRefused((await signInAs(login)).answer), login)
  t.match(await sessionOf((await signInAs('none')).answer), { account: { id: acme }, role: 'member' })
})

// Contract: Operators
t.test('operators by a claim: an operator who is a member too signs in as an operator', async (t) => {
  t.match(await sessionOf((await signInAs('mona')).answer), { account: null, role: 'operator' })
})

// Contract: Audit log
t.test('operators by a claim: the audit log says who has the session; a sign-in works once', async (t) => {
  const { back, cookie, answer } = await signInAs('olga')
  t.equal(answer.status, 201)
  const [entry] = await database.query<{ actor: string; target: string; detail: object }>(
    `select actor, target, detail from audit_entry where action = 'session.begin' order by at desc limit 1`,
  )
  t.match(entry, {
    actor: `operator:${entry?.target}`,
    detail: { how: 'provider', from: '127.0.0.1', role: 'operator', issuer: provider.issuer, subject: 'olga' },
  })
  t.same((await database.query('select from console_session where id = $1', [entry?.target])).length, 1)
  const count = async () => (await database.query('select from console_session')).length
  const before = await count()
  t.match((await visit(back, cookie)).headers.get('location'), /error=/)
  t.equal(await count(), before)
})

// Contract: Operators
t.test('operators by a claim: a claim of the ID token counts before that of the user info', async (t) => {
  t.teardown(() => delete provider.lies.idToken)
  provider.lies.idToken = (claims) => ({ ...claims, groups: ['shots-readers'] })
  t.match(await sessionOf((await signInAs('olga')).answer), { role: 'operator_read_only' })
  provider.lies.idToken = (claims) => ({ ...claims, groups: [] })
  t.ok(isRefused((await signInAs('olga')).answer))
})

// Contract: Operators
t.test('operators by a claim: members without it sign in while the provider has no user info', async (t) => {
  t.teardown(() => {
    delete provider.lies.idToken
    delete provider.lies.hasNoUserInfo
  })
  provider.lies.hasNoUserInfo = true
  t.match((await signInAs('none')).answer.headers.get('location'), /error=/, 'the address is needed')
  provider.lies.idToken = (claims) => ({ ...claims, email: 'none@example.com', email_verified: true })
  t.match(await sessionOf((await signInAs('none')).answer), { account: { id: acme }, role: 'member' })
})

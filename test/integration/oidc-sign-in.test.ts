import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { oidcClient, signInAtProvider, startOidcProvider } from '#test/helpers/oidc-provider.ts'
import { startGateway } from '#test/helpers/running-gateway.ts'

const port = await freePort()
const baseUrl = `http://127.0.0.1:${port}`
const callback = `${baseUrl}/console/sign-in/oidc/callback`
const provider = await startOidcProvider(t, {
  redirectUris: [callback],
  people: { ada: { email: 'Ada@example.com', email_verified: true } },
})
const gateway = await startGateway(t, {
  GATEWAY_PORT: String(port),
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

const visit = (url: string, cookie = '') => fetch(url, { redirect: 'manual', headers: { cookie } })
const cookieOf = (answer: Response) => answer.headers.get('set-cookie')?.split(';')[0] ?? ''
const start = async (to = '') => {
  const answer = await visit(`${baseUrl}/console/sign-in/oidc?to=${encodeURIComponent(to)}`)
  return { answer, cookie: cookieOf(answer), location: answer.headers.get('location') ?? '' }
}

t.test('sign-in with the provider: a member gets a session of the account and returns to the page', async (t) => {
  const id = await newAccount('Acme')
  await addMember(id, 'ada@example.com')
  const { cookie, location } = await start('/console/captures?status=failed')
  const back = await signInAtProvider(location, 'ada')
  const answer = await visit(back, cookie)
  t.same([answer.status, answer.headers.get('location')], [303, '/console/captures?status=failed'])
  const session = await (await visit(`${baseUrl}/console/api/session`, cookieOf(answer))).json()
  t.match(session, { account: { id, name: 'Acme' }, role: 'member', email: 'ada@example.com' })
})

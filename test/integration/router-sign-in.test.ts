import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { oidcClient, signInAtProvider, startOidcProvider } from '#test/helpers/oidc-provider.ts'
import { type RunningGateway, startGateway } from '#test/helpers/running-gateway.ts'
import { startRouter } from '#test/helpers/running-router.ts'

// Sign-in with a provider where accounts are spread over three cells.

const publicUrl = 'http://shots.example'
const verified = (name: string) => ({ [name]: { email: `${name}@example.com`, email_verified: true } })
const provider = await startOidcProvider(t, {
  redirectUris: [`${publicUrl}/console/sign-in/oidc/callback`],
  people: {
    ...verified('ada'),
    ...verified('bob'),
    ...verified('cyd'),
    ...verified('dan'),
    ...verified('guy'),
    eve: {},
  },
})
const cells = await Promise.all(
  ['one', 'two', 'three'].map(async () => {
    const cell = await startGateway(t, {
      PUBLIC_URL: publicUrl,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: oidcClient.id,
      OIDC_CLIENT_SECRET: oidcClient.secret,
    })
    await replacePlans(cell.database, defaultPlans)
    return cell
  }),
)
const [one, two, three] = cells as [RunningGateway, RunningGateway, RunningGateway]
const names = { one: one.baseUrl, two: two.baseUrl, three: three.baseUrl }
const router = await startRouter(t, names, publicUrl)

const addMember = async ({ database }: RunningGateway, email: string) => {
  const { id } = await createAccount(database, { name: email, email: 'a@example.com', plan: 'unlimited' })
  await database.query(
    `insert into member (id, account_id, email, role, added_by, created_at) values ($1, $2, $3, 'member', 'system', now())`,
    [randomUUID(), id, email],
  )
  return id
}

/** A browser, which keeps cookies and follows redirects to the provider, where `login` signs in, and back. */
const openBrowser = (login: string, { baseUrl } = router) => {
  const jar = new Map<string, string>()
  const visit = async (path: string, body?: string) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { cookie, ...(body !== undefined && { 'content-type': 'application/json' }) }
    const init = { redirect: 'manual', headers, ...(body !== undefined && { method: 'POST', body }) } as const
    const response = await fetch(`${baseUrl}${path}`, init)
    for (const set of response.headers.getSetCookie()) {
      const { name = '', value = '' } = /^(?<name>[^=]+)=(?<value>[^;]*)/.exec(set)?.groups ?? {}
      if (set.includes('Max-Age=0')) jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }
  /** Asks whom the link signs in, and signs in: both in the cell of the link. Resolves to where that leads. */
  const confirm = async (token: string) => {
    const body = JSON.stringify({ token })
    const answers = [await visit('/console/api/sign-in', body), await visit('/console/api/session', body)]
    t.same(
      answers.map(({ status }) => status),
      [200, 201],
    )
    return '/console'
  }
  /** Resolves to the pages of the console that were visited, and where it ended. */
  const signIn = async (to = '/console') => {
    const visited = [`/console/sign-in/oidc?to=${encodeURIComponent(to)}`]
    for (let turn = 0; turn < 20; turn += 1) {
      const response = await visit(visited.at(-1) ?? '')
      const location = response.headers.get('location') ?? ''
      const at = location.startsWith(provider.issuer) ? await signInAtProvider(location, login) : location
      const token = at.split('#token=')[1]
      if (token !== undefined) return { visited, end: await confirm(token) }
      if (at.startsWith('/console/sign-in?')) return { visited, end: at }
      visited.push(at.replace(publicUrl, ''))
    }
    throw new Error('too many redirects')
  }
  const account = async () => {
    const response = await visit('/console/api/session')
    return ((await response.json()) as { account?: { id: string } }).account?.id
  }
  return { jar, visit, signIn, account }
}

for (const [index, name] of ['ada', 'bob', 'cyd'].entries()) {
  t.test(
    `router sign-in: a member of cell ${index + 1} gets a session there, after ${index} other cells`,
    async (t) => {
      const id = await addMember(cells[index] ?? one, `${name}@example.com`)
      const browser = openBrowser(name)
      const { visited, end } = await browser.signIn()
      t.equal(end, '/console')
      t.equal(visited.length, 2 * (index + 1), 'a start and a callback for each cell')
      t.equal(await browser.account(), id)
      t.notOk([...browser.jar.keys()].includes('shutterfleet_sign_in_cell'), 'no cell is kept')
    },
  )
}

t.test('router sign-in: who is a member of no account learns so after all cells, and can sign in later', async (t) => {
  const browser = openBrowser('dan')
  t.match(await browser.signIn(), { end: '/console/sign-in?error=no_account', visited: { length: 6 } })
  const id = await addMember(one, 'dan@example.com')
  t.match(await browser.signIn(), { end: '/console', visited: { length: 2 } })
  t.equal(await browser.account(), id)
})

t.test('router sign-in: whose email address is not verified learns so after all cells', async (t) => {
  const browser = openBrowser('eve')
  t.match(await browser.signIn(), { end: '/console/sign-in?error=unverified', visited: { length: 6 } })
})

t.test('router sign-in: a failure that has nothing to do with accounts leads back to the page at once', async (t) => {
  const browser = openBrowser('ada')
  const { headers } = await browser.visit('/console/sign-in/oidc/callback?state=x')
  t.same([headers.get('location'), headers.getSetCookie()], ['/console/sign-in?error=expired', []])
})

t.test('router sign-in: a new one begins at the first cell, whatever an abandoned one left', async (t) => {
  await addMember(one, 'ada@example.com')
  const browser = openBrowser('ada')
  for (const cell of ['three', 'unknown']) {
    browser.jar.set('shutterfleet_sign_in_cell', `${cell}.busy.x`)
    browser.jar.delete('shutterfleet_session')
    t.match(await browser.signIn(), { end: '/console', visited: { length: 2 } })
  }
})

t.test('router sign-in: a cell that cannot be reached is passed over', async (t) => {
  const { baseUrl } = await startRouter(
    t,
    { gone: 'http://127.0.0.1:1', two: two.baseUrl, three: three.baseUrl },
    publicUrl,
  )
  const id = await addMember(two, 'ada@example.com')
  const browser = openBrowser('ada', { ...router, baseUrl })
  t.match(await browser.signIn(), { end: '/console', visited: { length: 2 } })
  t.match(
    await openBrowser('guy', { ...router, baseUrl }).signIn(),
    { end: '/console/sign-in?error=busy' },
    'not all were asked',
  )
  t.equal((await two.database.query('select from console_session where account_id = $1', [id])).length, 1)
})

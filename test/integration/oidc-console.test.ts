import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import type { Page } from 'playwright'
import t from 'tap'
import { violationsOn } from '#test/helpers/axe.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { addMember } from '#shared/db/members.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { openLink } from '#test/helpers/console-pages.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { oidcClient, startOidcProvider } from '#test/helpers/oidc-provider.ts'
import { startGateway } from '#test/helpers/running-gateway.ts'

execFileSync(process.execPath, ['tools/console/build.ts'], { cwd: resolve(import.meta.dirname, '../..') })
const baseUrl = `http://127.0.0.1:${await freePort()}`
const provider = await startOidcProvider(t, {
  redirectUris: [`${baseUrl}/console/sign-in/oidc/callback`],
  people: {
    ada: { email: 'ada@example.com', email_verified: true },
    eve: { email: 'eve@example.com', email_verified: true },
  },
})
const { database } = await startGateway(t, {
  GATEWAY_PORT: new URL(baseUrl).port,
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: oidcClient.id,
  OIDC_CLIENT_SECRET: oidcClient.secret,
  OIDC_NAME: 'Acme ID',
})
await replacePlans(database, defaultPlans)
for (const name of ['Acme', 'Beta']) {
  const account = await createAccount(database, { name, email: 'a@example.com', plan: 'unlimited' })
  await addMember(database, { accountId: account.id, email: 'ada@example.com', role: 'owner' }, 'system')
}
const browser = await startBareBrowser()
t.teardown(() => browser.close())

const open = async (
  path: string,
  options: { readonly width?: number; readonly colorScheme?: 'light' | 'dark' } = {},
) => {
  const { width = 1280, colorScheme = 'light' } = options
  const page = await (await browser.newContext({ viewport: { width, height: 900 }, colorScheme })).newPage()
  await page.goto(baseUrl + path)
  return page
}

/** Goes through the pages of the provider. */
const signInAs = async (page: Page, login: string, account = 'Acme') => {
  await page.getByRole('link', { name: 'Sign in with Acme ID' }).click()
  await page.getByPlaceholder('Enter any login').fill(login)
  await page.getByPlaceholder('and password').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  if (account !== '') await page.getByRole('button', { name: `Sign in to ${account}` }).click()
}

t.test('sign-in with the provider: leads through its pages back to the page that was asked for', async (t) => {
  const page = await open('/console/keys')
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
  t.same(await violationsOn(page), [])
  await signInAs(page, 'ada')
  await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
  t.equal(page.url(), `${baseUrl}/console/keys`)
  t.notOk((await page.evaluate<string>('document.cookie')).includes('shutterfleet'), 'scripts cannot read the cookies')
})

for (const [width, colorScheme] of [
  [360, 'dark'],
  [1280, 'light'],
] as const)
  t.test(
    `sign-in with the provider: says what to do about failures, on ${width} px in ${colorScheme} colours`,
    async (t) => {
      for (const reason of [
        'provider',
        'refused',
        'expired',
        'unverified',
        'no_account',
        'failed',
        'busy',
        '__proto__',
      ]) {
        const page = await open(`/console/sign-in?error=${reason}`, { width, colorScheme })
        await page.getByRole('link', { name: 'Sign in with Acme ID' }).waitFor()
        t.equal(await page.getByRole('alert').count(), reason === '__proto__' ? 0 : 1, reason)
        t.same(await violationsOn(page), [], reason)
        t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
        await page.context().close()
      }
    },
  )

t.test('sign-in with the provider: who is a member of no account is told so', async (t) => {
  const page = await open('/console/')
  await signInAs(page, 'eve', '')
  await page.getByRole('alert').getByText('You are not a member of an account').waitFor()
  t.same(await violationsOn(page), [])
})

t.test('members: an owner adds one, changes the role, creates a link and removes them', async (t) => {
  const page = await open('/console/settings')
  await signInAs(page, 'ada')
  await page.getByRole('button', { name: 'Add member' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Email' }).fill('Bob@example.com')
  t.same(await violationsOn(page), [])
  await dialog.getByRole('combobox', { name: 'Role' }).selectOption('Viewer')
  await dialog.getByRole('button', { name: 'Add' }).click()
  const role = page.getByRole('combobox', { name: 'Role of bob@example.com' })
  t.equal(await role.inputValue(), 'viewer')
  await role.selectOption('Member')
  await page.getByRole('button', { name: 'Sign-in link bob@example.com' }).click()
  const link = page.getByRole('textbox', { name: 'Sign-in link' })
  const guest = await open(new URL(await link.inputValue()).pathname)
  await openLink(guest, await link.inputValue())
  await guest.getByRole('navigation').getByRole('link', { name: 'Settings' }).click()
  await guest.getByRole('cell', { name: 'ada@example.com' }).first().waitFor()
  t.equal(await guest.getByRole('button', { name: 'Add member' }).count(), 0)
  await page.getByRole('button', { name: 'Done' }).click()
  t.same(await violationsOn(page), [])

  await page.getByRole('combobox', { name: 'Role of ada@example.com' }).selectOption('Viewer')
  await page.getByRole('alert').getByText('last owner').waitFor()
  t.equal(await page.getByRole('combobox', { name: 'Role of ada@example.com' }).inputValue(), 'owner')

  await page.getByRole('button', { name: 'Remove bob@example.com' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await role.waitFor({ state: 'detached' })
  await guest.getByRole('navigation').getByRole('link', { name: 'Keys' }).click()
  await guest.getByRole('heading', { level: 1, name: 'Your session has ended' }).waitFor()
})

t.test('members: a person of two accounts switches in the account menu', async (t) => {
  const page = await open('/console/', { width: 360, colorScheme: 'dark' })
  await signInAs(page, 'ada')
  const menu = page.getByRole('button', { name: 'Account menu' })
  await page.getByText('Acme').first().waitFor()
  await menu.click()
  await page.getByRole('menuitemradio', { name: 'Beta' }).click()
  await page.getByText('Beta').first().waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('cell', { name: 'ada@example.com' }).first().waitFor()
  t.same(await violationsOn(page), [])
  t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
  await menu.click()
  t.same(await violationsOn(page), [])
})

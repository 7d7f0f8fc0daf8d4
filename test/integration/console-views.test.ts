import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright'
import t from 'tap'
import { violationsOn } from '#test/helpers/axe.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { buildConsole, consolePages, openLink, openPage } from '#test/helpers/console-pages.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { inShard } from '#test/helpers/in-shard.ts'
import { startSystem } from '#test/helpers/system.ts'

const operatorPages = ['Health', 'Pools', 'Accounts', 'Audit']
const pages = ['Overview', 'Playground', 'Captures', 'Batches', 'Webhooks', 'Keys', 'Activity', 'Settings']
const markup = '<img src=x onerror=alert(1)><b>bold</b>'
const captureMs = 60_000

buildConsole()
const site = await startPages()
const system = await startSystem(['--workers-max', '1', '--allow-target', site.host])
const { baseUrl } = system
const browser = await startBareBrowser()
t.teardown(async () => {
  await browser.close()
  await system.stop()
  await site[Symbol.asyncDispose]()
})

const { complaints, openContext, signInLink, signIn } = consolePages(browser, system)

const csrfTokenOf = async (page: Page): Promise<string> => {
  const session = await (await page.request.get(`${baseUrl}/console/api/session`)).json()
  return (session as { csrf_token: string }).csrf_token
}

t.test('sign-in: a link works once, and its token leaves the address', async (t) => {
  const [page, other] = [await openContext(), await openContext()]
  const link = await signInLink()
  await openLink(page, link)
  t.equal(page.url(), `${baseUrl}/console/`)
  await other.goto(link)
  await other.getByRole('heading', { name: 'This link no longer works' }).waitFor()
  t.same(await violationsOn(other), [])
  t.equal(other.url(), `${baseUrl}/console/sign-in`)
})

t.test('sign-in: a link asks, naming both accounts, before it replaces who is signed in', async (t) => {
  const page = await openContext()
  await signIn(page, 'viewer')
  const before = await page.context().cookies()
  await page.goto(await signInLink('owner', '--operator'))
  await page.getByRole('heading', { level: 1, name: 'Sign in instead?' }).waitFor()
  t.match(await page.getByRole('main').innerText(), /signed in to\s+local\s+Viewer[\s\S]*signs you in to\s+Operator/)
  t.same(await violationsOn(page), [])
  t.same(await page.context().cookies(), before, 'nobody is signed in by the link alone')
  await page.getByRole('link', { name: 'Stay signed in to local' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await openLink(page, await signInLink('owner', '--operator'))
  await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor()
})

t.test('sign-in: every page says how to get a link, which may be pasted into its address', async (t) => {
  const page = await openContext()
  await page.goto(`${baseUrl}/console/keys`)
  await page.getByRole('heading', { name: 'Sign in with a link' }).waitFor()
  t.equal(await page.getByRole('navigation').count(), 0)
  await page.goto(`${baseUrl}/console/sign-in`)
  await signIn(page)
})

for (const [width, colorScheme] of [
  [360, 'dark'],
  [1280, 'light'],
  [1920, 'dark'],
] as const)
  t.test(`pages: each has one h1 and fits ${width} px; up to 1280 px axe finds nothing`, async (t) => {
    const page = await openContext({ width, colorScheme })
    await signIn(page)
    for (const name of inShard(pages)) {
      await openPage(page, name)
      t.equal(await page.getByRole('heading', { level: 1 }).count(), 1, name)
      if (width <= 1280) t.same(await violationsOn(page), [], name)
      t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, `${name} is not wider`)
    }
  })

for (const [width, colorScheme] of [
  [360, 'light'],
  [1280, 'dark'],
  [1920, 'light'],
] as const)
  t.test(`operators: each page has one h1 and fits ${width} px; up to 1280 px axe finds nothing`, async (t) => {
    const page = await openContext({ width, colorScheme })
    await signIn(page, 'owner', '--operator')
    t.equal(page.url(), `${baseUrl}/console/health`)
    for (const name of inShard([...operatorPages, 'Overview', 'Settings'])) {
      await openPage(page, name)
      await page.waitForSelector('.loading', { state: 'detached' })
      t.equal(await page.getByRole('alert').count(), 0, `${name} has no error`)
      t.equal(await page.getByRole('heading', { level: 1 }).count(), 1, name)
      if (width <= 1280) t.same(await violationsOn(page), [], name)
      t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, `${name} is not wider`)
    }
  })

t.test('operators: look into an account under a banner, change nothing of it, and leave it', async (t) => {
  const page = await openContext()
  await signIn(page, 'owner', '--operator')
  await openPage(page, 'Accounts')
  await page.getByRole('link', { name: 'local' }).click()
  await page.getByRole('button', { name: 'Erase' }).click()
  await page.getByRole('dialog').waitFor()
  t.same(await violationsOn(page), [])
  await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click()
  t.ok(await page.getByRole('dialog').isVisible(), 'without its name nothing is erased')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Change plan' }).click()
  await page.getByRole('combobox', { name: 'Plan' }).selectOption('Unlimited')
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByRole('cell', { name: 'account.set_plan' }).first().waitFor()
  t.same(await violationsOn(page), [])

  await page.getByRole('button', { name: 'Look into' }).click()
  const banner = page.getByRole('complementary', { name: 'You are looking into account local.' })
  // The page is loaded anew; the one before it has an overview too.
  await banner.waitFor()
  for (const name of ['Overview', 'Keys', 'Settings', 'Health']) {
    await openPage(page, name)
    t.ok(await banner.isVisible(), name)
    t.equal(await page.getByRole('button', { name: 'Create key' }).count(), 0)
    t.same(await violationsOn(page), [], name)
  }
  await banner.getByRole('button', { name: 'Leave account' }).click()
  await page.getByRole('cell', { name: 'account.leave' }).first().waitFor()
  await openPage(page, 'Keys')
  await page.getByText('No account is open').waitFor()
})

t.test('operators: a read-only one sees the same pages without what changes something', async (t) => {
  const page = await openContext()
  await signIn(page, 'viewer', '--operator')
  await page.getByText('Operator, read-only').waitFor()
  t.equal(await page.getByRole('button', { name: 'Turn on maintenance' }).count(), 0)
  await openPage(page, 'Accounts')
  await page.getByRole('link', { name: 'local' }).click()
  await page.getByRole('button', { name: 'Look into' }).waitFor()
  for (const name of ['Erase', 'Disable', 'Change plan'])
    t.equal(await page.getByRole('button', { name }).count(), 0, name)
})

t.test('keys: a created key is shown once, and its name is text', async (t) => {
  const page = await openContext()
  await signIn(page)
  await openPage(page, 'Keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill(markup)
  await dialog.getByRole('button', { name: 'Create' }).click()
  const key = page.getByRole('textbox', { name: 'API key' })
  t.match(await key.inputValue(), /^sk_live_/)
  t.same(await violationsOn(page), [])
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('cell', { name: markup }).first().waitFor()
  t.equal(await key.count(), 0)
})

t.test('keys: scopes and expiry of a new key are chosen in the form and listed', async (t) => {
  const page = await openContext()
  await signIn(page)
  await openPage(page, 'Keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Restricted')
  for (const name of [/^Capture pages/, /^Manage keys/]) await dialog.getByRole('checkbox', { name }).uncheck()
  await dialog.getByRole('combobox', { name: 'Expiry' }).selectOption('90 days')
  t.same(await violationsOn(page), [])
  const read = dialog.getByRole('checkbox', { name: /^Read captures/ })
  await read.uncheck()
  await dialog.getByRole('button', { name: 'Create' }).click()
  t.equal(await dialog.locator('input:invalid').count(), 3, 'a key without a scope is not sent')
  await read.check()
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: 'Done' }).click()
  const row = page.getByRole('row', { name: /Restricted/ })
  await row.getByRole('cell', { name: 'read', exact: true }).waitFor()
  await row.getByRole('cell', { name: 'in 3 mo.' }).waitFor()
})

t.test('playground: a capture appears live, with its record in the list', async (t) => {
  const page = await openContext()
  await signIn(page)
  await openPage(page, 'Playground')
  t.ok(await page.getByRole('textbox', { name: 'URL' }).isVisible())
  await page.getByRole('radio', { name: 'HTML' }).check()
  await page.getByRole('textbox', { name: 'HTML' }).fill(`<title>${markup}</title><h1>Hello</h1>`)
  await page.getByRole('button', { name: 'Capture' }).click()
  const picture = page.getByRole('img', { name: 'Capture result' })
  await picture.waitFor({ timeout: captureMs })
  await eventually(async () => (await picture.evaluate((each) => Reflect.get(each, 'naturalWidth'))) === 1280)
  t.same(await violationsOn(page), [])
  await openPage(page, 'Captures')
  await page
    .getByRole('link', { name: /^HTML, / })
    .first()
    .click()
  await page.getByRole('img', { name: 'Captured picture' }).waitFor()
  t.same(await violationsOn(page), [])
})

/** Creates something as the page does, and returns its id. */
const post = async (page: Page, path: string, data: object): Promise<string> => {
  const headers = { 'x-csrf-token': await csrfTokenOf(page) }
  const sent = await page.request.post(baseUrl + path, { headers, data })
  return ((await sent.json()) as { data: { id: string } }).data.id
}

const captureHtml = async (page: Page, html: string): Promise<string> => {
  const id = await post(page, '/v1/screenshots', { html })
  const shown = await page.request.get(`${baseUrl}/v1/screenshots/${id}?wait=60`)
  t.equal(((await shown.json()) as { data: { status: string } }).data.status, 'completed')
  return id
}

t.test('captures: two are compared, and selected ones are deleted together', async (t) => {
  const page = await openContext()
  await signIn(page)
  const boxes = [100, 100, 164].map(
    (width) => `<style>body{margin:0}</style><div style="width:${width}px;height:100px;background:red">`,
  )
  const ids: string[] = []
  for (const html of boxes) ids.push(await captureHtml(page, html))
  await page.goto(`${baseUrl}/console/captures/${ids[0]}/compare/${ids[1]}`)
  await page.getByText('The pictures are the same.').waitFor()
  await openPage(page, 'Captures')
  const checkboxes = page.getByRole('checkbox', { name: /^Select HTML/ })
  await checkboxes.nth(0).check()
  await checkboxes.nth(1).check()
  t.same(await violationsOn(page), [])
  await page.getByRole('link', { name: 'Compare' }).click()
  // 64 of 1280 columns in 100 of 800 rows.
  await page.getByText('0.6 % of the pixels differ').waitFor()
  t.same(await violationsOn(page), [])
  await openPage(page, 'Captures')
  const count = await checkboxes.count()
  for (const index of [0, 1]) await checkboxes.nth(index).check()
  await page.getByRole('button', { name: 'Delete 2' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 2' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('group', { name: '2 selected' }).waitFor({ state: 'detached' })
  for (const id of ids.slice(1)) t.equal((await page.request.get(`${baseUrl}/v1/screenshots/${id}`)).status(), 404)
  await eventually(async () => (await checkboxes.count()) === count - 2)
})

t.test('captures: filters are part of the address, and the way back from a capture keeps them', async (t) => {
  const page = await openContext()
  await signIn(page)
  await captureHtml(page, '<p>kept')
  await openPage(page, 'Captures')
  const status = page.getByRole('combobox', { name: 'Status' })
  await status.selectOption('failed')
  await page.waitForURL('**/console/captures?status=failed')
  await status.selectOption('completed')
  await page.waitForURL('**/console/captures?status=completed')
  await page.getByRole('row').nth(1).getByRole('link').first().click()
  await page.getByRole('link', { name: 'Repeat with changes' }).click()
  await page.getByText('The capture had html').waitFor()
  t.same(await violationsOn(page), [])
  for (const _ of [1, 2]) await page.goBack()
  t.equal(await status.inputValue(), 'completed')
})

t.test('batches: the pictures of a batch are downloaded as one archive', async (t) => {
  const page = await openContext()
  await signIn(page)
  const id = await post(page, '/v1/screenshots/batch', { urls: [`${site.url}/missing?one`, `${site.url}/missing?two`] })
  await page.goto(`${baseUrl}/console/batches/${id}`)
  await page.getByText('2 of 2').waitFor({ timeout: captureMs })
  const downloaded = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download all pictures' }).click()
  const download = await downloaded
  const archive = await readFile(await download.path(), 'latin1')
  t.match(archive, /^PK[^]*001-[\w.-]+one\.png[^]*002-[\w.-]+two\.png/)
  t.same(await violationsOn(page), [])
})

t.test('playground: messages of the API stand at their controls, as text', async (t) => {
  const page = await openContext()
  await signIn(page)
  await openPage(page, 'Playground')
  await page.getByRole('textbox', { name: 'URL' }).fill(markup)
  await page.getByRole('button', { name: 'Capture' }).click()
  t.match(await page.getByRole('alert').textContent(), 'url must be an absolute http or https address')
  t.same(await violationsOn(page), [])
})

t.test('playground: a link to the form fills it', async (t) => {
  const page = await openContext()
  await signIn(page)
  await page.goto(`${baseUrl}/console/playground?url=https%3A%2F%2Fexample.com&width=700&block_cookies=false`)
  t.equal(await page.getByRole('textbox', { name: 'URL' }).inputValue(), 'https://example.com')
  const sample = page.getByRole('region', { name: 'curl' })
  for (const part of ['"width": 700', '"block_cookies": false']) t.match(await sample.textContent(), part)
  await page.getByRole('radio', { name: 'Python' }).check()
  t.match(await page.getByRole('region', { name: 'Python' }).textContent(), '"block_cookies": False')
})

t.test('playground: an image link is signed by a key, and needs a new signature for other parameters', async (t) => {
  const page = await openContext({ width: 360 })
  await signIn(page)
  await page.goto(`${baseUrl}/console/playground?url=https%3A%2F%2Fexample.com&width=700`)
  await page.getByRole('radio', { name: 'Image link' }).check()
  await page.getByRole('button', { name: 'Sign link' }).click()
  const element = page.getByRole('region', { name: 'Image link' })
  t.match(
    await element.textContent(),
    /^<img src="[^" ]+\/v1\/render\?[^" ]*&amp;url=https%3A%2F%2Fexample\.com&amp;width=700/,
  )
  t.same(await violationsOn(page), [])
  t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
  await page.getByRole('textbox', { name: 'URL' }).fill('https://example.org')
  await element.waitFor({ state: 'detached' })
  const viewer = await openContext()
  await signIn(viewer, 'viewer')
  await openPage(viewer, 'Playground')
  await viewer.getByRole('radio', { name: 'Image link' }).check()
  await viewer.getByText('Links are signed by owners and members.').waitFor()
  t.equal(await viewer.getByRole('button', { name: 'Sign link' }).count(), 0)
})

t.test('keyboard: the skip link, any page by its name, and a dialog that returns focus', async (t) => {
  const page = await openContext()
  await signIn(page)
  await openPage(page, 'Keys')
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox').fill('captures')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Captures' }).waitFor()
  t.equal(await page.evaluate('document.activeElement.id'), 'content', 'focus is on the content of the new page')
  await page.reload()
  await page.getByRole('navigation').waitFor()
  await page.keyboard.press('Tab')
  t.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to content')
  await openPage(page, 'Keys')
  await page.getByRole('button', { name: 'Create key' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  t.equal(await page.evaluate('document.activeElement.textContent'), 'Create key')
})

t.test('states: a page without a connection says so, and loads again when it is back', async (t) => {
  const page = await openContext()
  await signIn(page)
  await page.context().setOffline(true)
  await page.getByRole('navigation').getByRole('link', { name: 'Webhooks' }).click()
  await page.getByRole('alert').getByText('No connection').waitFor()
  t.same(await violationsOn(page), [])
  await page.context().setOffline(false)
  await page.getByText('No webhooks yet').waitFor()
})

t.test('session: a page whose session has ended says so', async (t) => {
  const page = await openContext()
  await signIn(page)
  await page.context().clearCookies()
  const link = page.getByRole('navigation').getByRole('link', { name: 'Keys' })
  // A request of the page's own may be refused first, which takes the navigation away.
  await link.click({ timeout: 5000 }).catch(() => {})
  await page.getByRole('heading', { level: 1, name: 'Your session has ended' }).waitFor()
  t.same(await violationsOn(page), [])
})

t.test('roles: a viewer sees the pages without what changes something, and the server refuses it too', async (t) => {
  const page = await openContext()
  await signIn(page, 'viewer')
  await openPage(page, 'Keys')
  t.equal(await page.getByRole('button', { name: 'Create key' }).count(), 0)
  t.same(await violationsOn(page), [])
  const headers = { 'x-csrf-token': await csrfTokenOf(page) }
  t.equal((await page.request.post(`${baseUrl}/v1/keys`, { headers, data: { name: 'x' } })).status(), 403)
})

t.test('account menu: after signing out the old cookie is refused', async (t) => {
  const page = await openContext()
  await signIn(page)
  const cookies = await page.context().cookies()
  await page.getByRole('button', { name: 'Account menu' }).click()
  await page.route('**/console/api/session', (route) => route.abort())
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('alert').waitFor()
  await page.unrouteAll()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
  await page.context().addCookies(cookies)
  for (const path of ['/console/api/session', '/v1/account', '/v1/keys'])
    t.equal((await page.context().request.get(baseUrl + path)).status(), 401, path)
})

t.test('console: breaks no content security policy, runs no stored markup, and asks nobody else', async (t) => {
  t.same(complaints, [])
})

import { existsSync } from 'node:fs'
import { firefox } from 'playwright'
import t from 'tap'
import { buildConsole, consolePages, openPage } from '#test/helpers/console-pages.ts'
import { startSystem } from '#test/helpers/system.ts'

// The other tests of the console run in Chromium; this one shows that Firefox does what they rely on.

/** Debian's, installed by scripts/install-firefox.sh; Playwright speaks WebDriver BiDi with it. */
const executablePath = '/usr/bin/firefox-esr'
const skip = existsSync(executablePath) ? false : `${executablePath} is missing; run: scripts/install-firefox.sh`

for (const [width, colorScheme] of [
  [360, 'dark'],
  [1280, 'light'],
] as const)
  t.test(`firefox: a capture, a key and the sign-out work as in Chromium at ${width} px`, { skip }, async (t) => {
    buildConsole()
    await using system = await startSystem(['--workers-max', '1'])
    const browser = await firefox.launch({ channel: 'moz-firefox', executablePath })
    t.teardown(() => browser.close())
    const { complaints, openContext, signIn } = consolePages(browser, system)
    const page = await openContext({ width, colorScheme })
    await signIn(page)
    t.equal(page.url(), `${system.baseUrl}/console/`, 'the token of the link leaves the address')

    await openPage(page, 'Playground')
    await page.getByRole('radio', { name: 'HTML' }).check()
    await page.getByRole('textbox', { name: 'HTML' }).fill('<h1>Hello</h1>')
    await page.getByRole('button', { name: 'Capture' }).click()
    await page.getByRole('img', { name: 'Capture result' }).waitFor({ timeout: 60_000 })
    await page.waitForFunction('document.querySelector("[alt=\'Capture result\']").naturalWidth === 1280')

    await openPage(page, 'Keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('From Firefox')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    t.match(await page.getByRole('textbox', { name: 'API key' }).inputValue(), /^sk_live_/)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('cell', { name: 'From Firefox' }).first().waitFor()
    t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)

    await page.getByRole('button', { name: 'Account menu' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
    await page.goto(`${system.baseUrl}/console/keys`)
    await page.getByRole('heading', { name: 'Sign in with a link' }).waitFor()
    t.same(complaints, [])
  })

import { existsSync } from 'node:fs'
import t from 'tap'
import { buildConsole } from '#test/helpers/console-pages.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { firefoxPath, startFirefox } from '#test/helpers/firefox.ts'
import { startSystem } from '#test/helpers/system.ts'

// The other tests of the console run in Chromium; this one shows that Firefox does what they rely on.

const skip = existsSync(firefoxPath) ? false : `${firefoxPath} is missing; run: scripts/install-firefox.sh`

for (const [width, colorScheme] of [
  [500, 'dark'],
  [1280, 'light'],
] as const)
  t.test(`firefox: a capture, a key and the sign-out work as in Chromium at ${width} px`, { skip }, async (t) => {
    buildConsole()
    await using system = await startSystem(['--workers-max', '1'])
    const firefox = await startFirefox(t, { width, colorScheme })
    const isTrue = (expression: string) => eventually(async () => (await firefox.evaluate(expression)) === true)
    await firefox.goto(system.consoleUrl)
    await firefox.click('button', 'Sign in to local')
    await firefox.find('heading', 'Overview')
    t.equal(await firefox.evaluate('location.href'), `${system.baseUrl}/console/`, 'the token leaves the address')
    t.equal(await firefox.evaluate('innerWidth'), width)
    t.equal(await firefox.evaluate(`matchMedia('(prefers-color-scheme: dark)').matches`), colorScheme === 'dark')

    await firefox.click('link', 'Playground')
    await firefox.click('radio', 'HTML')
    await firefox.type('textbox', 'HTML', '<h1>Hello</h1>')
    await firefox.click('button', 'Capture')
    await isTrue(`document.querySelector("[alt='Capture result']")?.naturalWidth === 1280`)

    await firefox.click('link', 'Keys')
    await firefox.click('button', 'Create key')
    await firefox.type('textbox', 'Name', 'From Firefox')
    await firefox.click('button', 'Create')
    await firefox.find('textbox', 'API key')
    await isTrue(`document.querySelector('dialog input').value.startsWith('sk_live_')`)
    await firefox.click('button', 'Done')
    await isTrue(`document.querySelector('main table').textContent.includes('From Firefox')`)
    t.equal(await firefox.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)

    await firefox.click('css', '.account-button')
    await firefox.click('menuitem', 'Sign out')
    await firefox.find('heading', 'You are signed out')
    await firefox.goto(`${system.baseUrl}/console/keys`)
    await firefox.find('heading', 'Sign in with a link')
    t.same(firefox.complaints, [])
  })

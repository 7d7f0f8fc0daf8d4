import t from 'tap'
import { violationsOn } from '#test/helpers/axe.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { buildConsole, consolePages } from '#test/helpers/console-pages.ts'
import { startSystem } from '#test/helpers/system.ts'

const markup = '<img src=x onerror=alert(1)><b>bold</b>'

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
const { complaints, openContext, signIn } = consolePages(browser, system)

t.test('captures: a record shows the requests of its page and its console, as text', async (t) => {
  for (const [width, colorScheme] of [
    [360, 'dark'],
    [1280, 'light'],
  ] as const) {
    const page = await openContext({ width, colorScheme })
    await signIn(page)
    const session = await page.request.get(`${baseUrl}/console/api/session`)
    const { csrf_token: token } = (await session.json()) as { csrf_token: string }
    const html = `<img src="${site.url}/absent.png?sig=secret"><h1>log</h1><script>
      console.log(${JSON.stringify(markup)}); console.warn('careful'); (function broken() { null.missing })()</script>`
    const sent = await page.request.post(`${baseUrl}/v1/screenshots`, {
      headers: { 'x-csrf-token': token },
      data: { html, outputs: ['har', 'console'] },
    })
    const { id } = ((await sent.json()) as { data: { id: string } }).data
    await page.request.get(`${baseUrl}/v1/screenshots/${id}?wait=60`)
    await page.goto(`${baseUrl}/console/captures/${id}`)
    await page.getByText('1 request, 1 failed').waitFor()
    const row = page.getByRole('row', { name: /absent\.png\?sig=\*\*\*/ })
    t.match(await row.innerText(), /404/)
    await page.getByText('4 messages, 2 errors').waitFor()
    await page.getByText(markup, { exact: true }).waitFor()
    t.match(await page.getByRole('listitem').filter({ hasText: 'TypeError' }).innerText(), /exception · 2:\d+/)
    t.same(await violationsOn(page), [])
    t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    await page.getByRole('button', { name: 'Errors only' }).click()
    await page.getByText('careful').waitFor({ state: 'detached' })
  }
  t.same(complaints, [])
})

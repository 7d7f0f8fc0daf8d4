import { createServer, request } from 'node:http'
import t from 'tap'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { buildConsole, consolePages } from '#test/helpers/console-pages.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { startSystem } from '#test/helpers/system.ts'

// Behind a reverse proxy that serves the system below a path of its own, which it removes or passes on.

buildConsole()
const path = '/team/shots'

/** A proxy that knows nothing but the path. */
const startProxy = (removesPath: boolean) => {
  let target = 0
  const server = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming
    if (!url.startsWith(path)) return outgoing.writeHead(404).end()
    const options = { port: target, path: removesPath ? url.slice(path.length) || '/' : url, method, headers }
    const forwarded = request(options, (answer) => {
      answer.pipe(outgoing.writeHead(answer.statusCode ?? 502, answer.headers))
    })
    return incoming.pipe(forwarded.on('error', () => outgoing.destroy()))
  })
  return { server, forward: (port: number) => void (target = port) }
}

for (const removesPath of [true, false]) {
  const how = removesPath ? 'removes' : 'passes on'
  t.test(`public path: all is served behind a proxy that ${how} the path`, async (t) => {
    const { server, forward } = startProxy(removesPath)
    await using proxy = await listening(server)
    const baseUrl = `http://127.0.0.1:${proxy.port}${path}`
    await using system = await startSystem(['--workers-max', '1'], { env: { SHUTTERFLEET_PUBLIC_URL: baseUrl } })
    forward(Number(new URL(system.baseUrl).port))
    const { api_key: key } = await system.readLocal()
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ html: '<h1>Below</h1>', response_type: 'json' })
    const answer = await fetch(`${baseUrl}/v1/screenshots/capture`, { method: 'POST', headers, body })
    const { data } = (await answer.json()) as { data: { id: string; image_url: string } }
    t.equal((await fetch(data.image_url, { headers })).status, 200, 'the addresses of records lead there')

    const browser = await startBareBrowser()
    t.teardown(() => browser.close())
    const pages = consolePages(browser, { baseUrl, dataDir: system.dataDir })
    const page = await pages.openContext()
    await pages.signIn(page)
    t.match(page.url(), `${baseUrl}/console`)
    const [cookie] = await page.context().cookies()
    t.equal(cookie?.path, path, 'other applications of the host do not get the session')
    await page.getByRole('navigation').getByRole('link', { name: 'Captures', exact: true }).click()
    await page.locator('.thumbnail').first().waitFor()
    await page.locator(`a[href$="/captures/${data.id}"]`).first().click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.reload()
    await page.locator('.picture img, img.picture, main img').first().waitFor()
    await page.goto(`${baseUrl}/v1/docs`)
    await page.getByText('Capture a page').first().waitFor()
    t.same(pages.complaints, [])
  })
}

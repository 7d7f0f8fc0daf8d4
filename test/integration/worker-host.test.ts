import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { proxyHeader } from '#shared/net/callers-proxy.ts'
import { captureHeader } from '#shared/net/refusal.ts'
import { findBrowsers, chromiumPath, startBareBrowser } from '#test/helpers/bare-browser.ts'
import { captureWith, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { pixel, startCaptureEnvironment } from '#test/helpers/shots.ts'
import { canaryPage, createCanary, warmUp } from '#worker/host/warm-up.ts'
import { listChildren } from '#worker/isolation/processes.ts'

const languages: (string | undefined)[] = []
const filled = 'background:linear-gradient(red,blue)'
const square =
  '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="100" height="100" fill="red"/></svg>'
const { pages, egress, host, take, shoot } = await startCaptureEnvironment(t, {
  '/language': ({ headers }, response) => {
    languages.push(headers['accept-language'])
    response.end('<p>any')
  },
  '/framed-dialogs': ({ headers }, response) =>
    response.end(`<iframe src="http://${headers.host?.replace('127.0.0.1', 'localhost')}/dialogs"></iframe>`),
  '/heavy': (_request, response) => response.end('<p>heavy'.repeat(500_000)),
  '/slow.svg': (_request, response) => {
    setTimeout(() => response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(square), 700)
  },
  '/late-picture': (_request, response) =>
    response.end(`<!doctype html><body style="margin:0"><script>onload = () => {
      const picture = Object.assign(new Image(100, 100), { src: '/slow.svg' })
      document.body.append(picture)
    }</script>`),
  '/grows': (_request, response) =>
    response.end(`<!doctype html><body style="margin:0"><div style="height:3000px;${filled}"></div><script>
      onscroll = () => document.body.append(document.querySelector('div').cloneNode())
    </script>`),
})

for (const format of ['png', 'jpeg', 'webp'] as const) {
  t.test(`worker host: a viewport is captured as ${format} in the requested size`, async (t) => {
    const shot = await shoot({ html: '<body style="background:rgb(0,0,255)">x', format, width: 640, height: 480 })
    t.match(shot, { width: 640, height: 480, mimeType: `image/${format}`, warnings: [], finalUrl: undefined })
    t.match(await sharp(shot.bytes).metadata(), { format, width: 640, height: 480 })
    const [red = 0, , blue = 0] = await pixel(shot, 320, 240)
    t.ok(red < 8 && blue > 247)
  })
}

// Contract: Full page
t.test('worker host: a full page is captured in each format with its lazy images', async (t) => {
  for (const format of ['png', 'jpeg', 'webp'] as const) {
    const shot = await shoot({ url: `${pages.url}/stripes`, format, full_page: true })
    t.match(await sharp(shot.bytes).metadata(), { format, width: 1280, height: 4000 })
    for (const stripe of [0, 10, 19]) {
      const [red = 0, green = 255] = await pixel(shot, 50, stripe * 200 + 50)
      t.ok(red > 247 && green < 8, `picture ${stripe} of ${format}`)
    }
  }
})

// Contract: Full page
t.test('worker host: late images in view are awaited, and a page that grows when scrolled is truncated', async (t) => {
  t.strictSame(await pixel(await shoot({ url: `${pages.url}/late-picture`, full_page: true }), 50, 50), [255, 0, 0])
  const grown = await shoot({ url: `${pages.url}/grows`, full_page: true, format: 'jpeg' })
  t.match(grown, { height: 20_000, warnings: [{ code: 'truncated' }] })
})

// Contract: HTML source
t.test('worker host: a url and an html source load public sub-resources', async (t) => {
  const byUrl = await shoot({ url: `${pages.url}/moved` })
  t.match(byUrl, { targetStatus: 200, finalUrl: `${pages.url}/plain` })
  const byHtml = await shoot({ html: `<body style="margin:0"><img src="${pages.url}/square.svg">` })
  t.strictSame(await pixel(byHtml, 50, 50), [255, 0, 0])
})

// Contract: Target 4xx/5xx page
// Contract: Success
t.test('worker host: an error page of the target is captured with its status', async (t) => {
  t.equal((await shoot({ url: `${pages.url}/missing` })).targetStatus, 404)
  t.equal((await shoot({ url: `${pages.url}/broken` })).targetStatus, 500)
})

// Contract: 401 with Basic challenge and no credentials
t.test('worker host: a page that requires a password is captured as its 401 page', async (t) => {
  const shot = await shoot({ url: `${pages.url}/prompt` })
  t.equal(shot.targetStatus, 401)
  t.strictSame(await pixel(shot, 640, 600), [0, 128, 0])
})

// Contract: Error mapping
t.test('worker host: pages with dialogs, popups, poisoned globals or private requests are captured', async (t) => {
  for (const path of ['/dialogs', '/framed-dialogs', '/popups', '/poisoned', '/private-picture']) {
    t.equal((await shoot({ url: pages.url + path })).targetStatus, 200, path)
  }
})

// Contract: Defaults of the page's world
t.test("worker host: a page has the locale en-US and the time zone UTC, whatever the node's are", async (t) => {
  const chromium = join(egress.folder, 'chromium-abroad')
  const world = 'TZ=Asia/Tokyo LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8 LANGUAGE=de'
  await writeFile(chromium, `#!/bin/sh\nexec env ${world} '${chromiumPath}' "$@"\n`, { mode: 0o755 })
  await using abroad = await startTestHost(egress, { browsers: { prewarmed: 'shell', binaries: { shell: chromium } } })
  const page = `<body style="margin:0"><script>
    const date = new Date(Date.UTC(2026, 6, 1, 23))
    const { locale, timeZone } = new Intl.DateTimeFormat().resolvedOptions()
    const seen = [navigator.language, locale, timeZone, date.getTimezoneOffset(), date.getHours(), (1.5).toLocaleString()]
    const wanted = ['en-US', 'en-US', 'UTC', 0, 23, '1.5']
    document.body.style.background = seen.join() === wanted.join() ? 'rgb(0,0,255)' : 'rgb(255,0,0)'
  </script>`
  const outcome = await captureWith(abroad, { html: page, timeout: 5 })
  if (outcome.outcome !== 'completed') throw new Error(outcome.detail)
  t.strictSame(await pixel(outcome.shot, 50, 50), [0, 0, 255])
  languages.length = 0
  t.equal((await captureWith(abroad, { url: `${pages.url}/language`, timeout: 5 })).outcome, 'completed')
  t.match(languages, [/^en-US\b/])
})

// Contract: Full page
t.test('worker host: too tall a page is cut with a warning, and rejected if too tall for the format', async (t) => {
  const shot = await shoot({ url: `${pages.url}/tall`, full_page: true, format: 'jpeg' })
  t.match(shot, { height: 20_000, warnings: [{ code: 'truncated' }] })
  const webp = await take({ url: `${pages.url}/tall`, full_page: true, format: 'webp' })
  t.match(webp, { code: 'RENDER_ERROR', message: /16383/ })
  await using low = await startTestHost(egress, { heightMax: 1500 })
  const cut = await captureWith(low, { url: `${pages.url}/stripes`, full_page: true })
  t.match(
    cut,
    { outcome: 'completed', shot: { height: 1500, warnings: [{ code: 'truncated' }] } },
    'the configured height',
  )
  await using high = await startTestHost(egress, { heightMax: 70_000 })
  const tall = { html: `<div style="height:66000px;${filled}">`, full_page: true, width: 640 }
  t.match(await captureWith(high, { ...tall, format: 'jpeg' }), { code: 'RENDER_ERROR', message: /65535/ })
})

t.test('worker host: reports do not contain passwords of URLs', async (t) => {
  const site = new URL(pages.url).host
  const shot = await shoot({ url: `http://user:hidden-word@${site}/plain` })
  t.equal(shot.finalUrl, `http://user:***@${site}/plain`)
  const late = await take({ url: `http://user:hidden-word@${site}/loops?token=hidden-word`, timeout: 5 })
  t.match(late, { code: 'TIMEOUT' })
  t.notMatch(JSON.stringify(late), 'hidden-word')
})

t.test('worker host: a picture of one colour has the warning blank', async (t) => {
  t.match(await shoot({ html: '<body style="background:teal">' }), { warnings: [{ code: 'blank' }] })
})

// Contract: HTML source
t.test('worker host: an html source has an opaque origin, and cannot load from private addresses', async (t) => {
  const shot = await shoot({
    html: `<body style="margin:0;background:red"><img src="http://10.0.0.1/x.png"><script>
      try { localStorage.length } catch { if (self.origin === 'null') document.body.style.background = 'rgb(0,0,255)' }
      fetch('http://10.0.0.1/').catch(() => { document.body.append('settled'); document.body.id = 'settled' })
    </script>`,
    wait_for_selector: '#settled',
  })
  t.strictSame(await pixel(shot, 640, 600), [0, 0, 255])
})

// Contract: HTML source
t.test('worker host: an html source cannot read files or navigate to private addresses', async (t) => {
  const shot = await shoot({
    html: '<body style="margin:0"><iframe src="file:///etc/passwd" style="border:0;width:100vw;height:100vh">',
  })
  const { dominant } = await sharp(shot.bytes).stats()
  const { isOpaque, entropy } = await sharp(shot.bytes).stats()
  t.ok(isOpaque && dominant.r > 200 && entropy < 0.1, 'the frame is empty')
  t.match(await take({ html: '<script>location = "http://10.0.0.1/"</script>' }), { code: 'BLOCKED' })
})

/** A proxy that serves `page` for every URL, accepts tunnels to port 443 only and closes them, and records its requests. */
const startRecordingProxy = async (page: string) => {
  const received: { line: string; headers: IncomingHttpHeaders }[] = []
  const note = ({ method, url, headers }: IncomingMessage) => void received.push({ line: `${method} ${url}`, headers })
  const server = createServer((request, response) => {
    note(request)
    response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  })
  server.on('connect', (request, socket) => {
    note(request)
    socket.end(request.url?.endsWith(':443') ? 'HTTP/1.1 200 OK\r\n\r\n' : 'HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  return { ...(await listening(server)), asked: received }
}

// Contract: `proxy`
t.test("worker host: all requests of a page use the caller's proxy, and the page cannot change it", async (t) => {
  const page = `<body><script>
    const settled = () => { document.body.id = 'settled' }
    fetch('/data', { headers: { '${proxyHeader}': 'http://evil.test:1', '${captureHeader}': 'forged' } }).then(() => {
      const socket = new WebSocket('ws://page.test/socket')
      socket.onerror = socket.onopen = settled
    })
  </script>`
  await using proxy = await startRecordingProxy(page)
  await using proxyEgress = await startTestEgress(`127.0.0.1:${proxy.port}`)
  await using proxied = await startTestHost(proxyEgress)
  const parameters = { url: 'http://page.test/', wait_for_selector: '#settled' }
  const outcome = await captureWith(proxied, { ...parameters, proxy: `http://us3r:s3%3Acret@127.0.0.1:${proxy.port}` })
  t.match(outcome, { outcome: 'completed', shot: { targetStatus: 200, finalUrl: 'http://page.test/' } })
  const lines = new Set(proxy.asked.map(({ line }) => line))
  for (const line of ['GET http://page.test/', 'GET http://page.test/data', 'CONNECT page.test:80'])
    t.ok(lines.has(line), line)
  for (const { line, headers } of proxy.asked) {
    t.equal(headers['proxy-authorization'], `Basic ${btoa('us3r:s3:cret')}`, line)
    t.strictSame([headers[proxyHeader], headers[captureHeader]], [undefined, undefined], line)
  }
  t.match(await captureWith(proxied, { url: 'https://page.test/', proxy: `http://127.0.0.1:${proxy.port}` }), {
    outcome: 'failed',
    code: 'CONNECTION_FAILED',
  })
  t.match(await captureWith(proxied, { url: 'http://page.test/' }), { outcome: 'failed', code: 'DNS_FAILED' })
})

t.test("worker host: a caller's proxy that cannot be used fails the capture, and it is not bypassed", async (t) => {
  const port = await freePort()
  await using proxyEgress = await startTestEgress(`${pages.host} 127.0.0.1:${port}`)
  await using proxied = await startTestHost(proxyEgress)
  pages.hits.length = 0
  for (const [proxy, code] of [
    [`http://127.0.0.1:${port}`, 'CONNECTION_FAILED'],
    [`socks5://127.0.0.1:${port}`, 'CONNECTION_FAILED'],
    ['http://10.0.0.1:3128', 'BLOCKED'],
  ] as const) {
    t.match(await captureWith(proxied, { url: `${pages.url}/plain`, proxy }), { outcome: 'failed', code }, proxy)
  }
  t.strictSame(pages.hits, [])
})

t.test("worker host: the canary detects a browser without the flags, and none of a host's browsers", async (t) => {
  const canary = createCanary(() => {})
  canary.server.listen(0, '127.0.0.1')
  await once(canary.server, 'listening')
  t.teardown(() => void canary.server.close())
  const { port } = canary.server.address() as AddressInfo
  const bare = await startBareBrowser()
  const page = await bare.newPage()
  await page.setContent(canaryPage(port))
  await page.waitForSelector('#settled')
  await bare.close()
  t.equal(canary.connections(), 3, 'picture, fetch and socket')
  await warmUp(host, { port, connections: canary.connections }, { browser: 'shell', startMs: 30_000 })
  await using byFlags = await startTestHost(egress, {}, { network: 'flags-only' })
  await warmUp(byFlags, { port, connections: canary.connections }, { browser: 'shell', startMs: 30_000 })
  t.equal(canary.connections(), 3)
})

t.test('worker host: a browser is replaced after its maximum of captures; a page has a limit of bytes', async (t) => {
  await using small = await startTestHost(egress, { recycleCaptures: 2, bytesMax: 1_000_000 })
  const hostPid = listChildren(process.pid).at(-1) ?? 0
  const browsers = new Set<number>()
  for (let count = 0; count < 6; count += 1) {
    t.match(await captureWith(small, { html: 'x' }), { outcome: 'completed' })
    for (const { pid } of findBrowsers(hostPid)) browsers.add(pid)
  }
  // Three serve and one is spare; more if a context was slow to close. One browser per capture would be 7.
  t.ok(browsers.size >= 3 && browsers.size <= 6, `${browsers.size} browsers for 6 captures`)
  t.match(await captureWith(small, { url: `${pages.url}/heavy` }), { code: 'RENDER_ERROR', message: /more than/ })
  t.match(await captureWith(small, { html: 'x' }), { outcome: 'completed' })
})

t.test('worker host: a browser that is killed during a capture interrupts it, and is replaced', async (t) => {
  const hits = pages.hits.filter((hit) => hit === '/late').length
  const capturing = take({ url: `${pages.url}/late`, wait_for_selector: '#late', delay: 1 })
  await eventually(() => pages.hits.filter((hit) => hit === '/late').length > hits)
  for (const { pid } of findBrowsers(process.pid)) process.kill(pid, 'SIGKILL')
  t.match(await capturing, { outcome: 'interrupted', by: 'browser' })
  t.match(await take({ url: `${pages.url}/plain` }), { outcome: 'completed' })
})

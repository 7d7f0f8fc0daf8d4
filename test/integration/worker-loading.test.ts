import t from 'tap'
import type { Route } from '#test/fixtures/pages/pages.ts'
import { blue, pixel, startCaptureEnvironment } from '#test/helpers/shots.ts'

const html = (body: string, status = 200, headers = {}): Route => {
  const page = `<!doctype html><style>html { background: rgb(0,0,255) }</style>${body}`
  return (_request, response) => response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(page)
}
const leaving = (script: string) => html(`<p>Page</p><img src="/slow.svg"><script>${script}</script>`, 203)

const hanging = {
  '/hanging': html('<p>Page</p><img src="/never"><iframe src="/never"></iframe><script async src="/never"></script>'),
  '/hanging-style': html('<p>Page</p><link rel="stylesheet" href="/never">'),
  '/endless': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.write('<!doctype html><style>html { background: rgb(0,0,255) }</style><p>line</p>')
  },
} satisfies Readonly<Record<string, Route>>

const lines = '<p style="margin:0;height:100px">line</p>'.repeat(20)

/** Documents of other types than HTML. */
const typed = (type: string, body: string, headers = {}): Route => {
  return (_request, response) => response.writeHead(200, { 'content-type': type, ...headers }).end(body)
}
const text = '{"name":"harbour","lines":["Größe"]}'
const blueSheet = `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/">
  <html><body style="background:rgb(0,0,255)"><xsl:value-of select="."/></body></html></xsl:template></xsl:stylesheet>`
const documents = {
  '/text': typed('text/plain; charset=utf-8', text),
  '/json': typed('application/json', text),
  '/json-ld': typed('application/ld+json', text, { 'content-security-policy': "default-src 'none'; sandbox" }),
  '/csv': typed('text/csv', text),
  '/calendar': typed('text/calendar; charset=utf-8', text),
  '/attached': typed('text/csv', text, { 'content-disposition': 'attachment; filename=a.csv' }),
  '/yaml': typed('application/yaml', text),
  '/feed': typed('text/xml', '<?xml-stylesheet type="text/xsl" href="/blue.xsl"?><feed>text</feed>'),
  '/blue.xsl': typed('text/xsl', blueSheet),
  '/paper': typed('application/pdf', '%PDF-1.4'),
  '/paper.pdf': typed('application/octet-stream', '%PDF-1.4'),
} satisfies Readonly<Record<string, Route>>

t.setTimeout(120_000)

const { pages, shoot, take } = await startCaptureEnvironment(t, {
  '/slow.svg': (_request, response) => {
    const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>'
    setTimeout(() => response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(picture), 200)
  },
  '/archive': (_request, response) =>
    response.writeHead(200, { 'content-disposition': 'attachment; filename=archive.zip' }).end('PK'),
  '/nothing': (_request, response) => response.writeHead(204).end(),
  '/never': () => {},
  ...hanging,
  ...documents,
  '/looping': html('<script>for (;;);</script>'),
  '/sandboxed': html(lines, 200, { 'content-security-policy': 'sandbox' }),
  '/sandboxed-text': (_request, response) => {
    const headers = { 'content-type': 'text/plain', 'content-security-policy': "default-src 'none'; sandbox" }
    response.writeHead(200, headers).end('line\n'.repeat(200))
  },
  '/meta': html(
    '<style>html { background: red !important }</style><meta http-equiv="refresh" content="1;url=/header">',
  ),
  '/header': html('<style>html { background: red !important }</style>', 200, { refresh: '1; url=/arrived' }),
  '/arrived': html('<p>Arrived</p>', 201),
  '/submitting': html(
    '<form action="/arrived"><input type=hidden name=a></form><script>setTimeout(() => document.forms[0].submit(), 300)</script>',
  ),
  '/again': html('<p>Page</p><meta http-equiv="refresh" content="1">'),
  '/whole': html('<p>Page</p>'),
  '/to-app': leaving("setTimeout(() => { location = 'harbour://open' })"),
  '/to-mail': leaving("location = 'mailto:a@b.example'"),
  '/to-archive': leaving("location.assign('/archive')"),
  '/to-nothing': leaving("location.replace('/nothing')"),
  '/stopped': leaving('setTimeout(stop, 50)'),
})

t.test(
  'worker loading: a page that goes to an app, a download or nowhere before its load event is captured',
  async (t) => {
    for (const path of ['/to-app', '/to-mail', '/to-archive', '/to-nothing', '/stopped']) {
      const shot = await shoot({ url: pages.url + path })
      t.match(shot, { targetStatus: 203, finalUrl: pages.url + path, warnings: [] }, path)
      t.strictSame(await pixel(shot, 900, 600), blue, path)
    }
  },
)

const unfinished = [{ code: 'load_unfinished' }]
const within = (path: string, parameters: object) => ({ url: pages.url + path, timeout: 2, ...parameters })

// Contract: `on_timeout`
t.test('worker loading: with on_timeout, a page of which something never arrives is captured as it is', async (t) => {
  for (const path of Object.keys(hanging)) {
    const shot = await shoot(within(path, { on_timeout: 'capture' }))
    t.match(shot, { targetStatus: 200, finalUrl: pages.url + path, warnings: unfinished }, path)
    t.strictSame(await pixel(shot, 900, 600), blue, path)
  }
})

// Contract: `on_timeout`
t.test('worker loading: with network_idle too', async (t) => {
  t.match(await shoot(within('/hanging', { wait_until: 'network_idle' })), { warnings: unfinished })
})

t.test('worker loading: with on_timeout, a page without what the request waits for is captured as it is', async (t) => {
  const warnings = [{ code: 'load_unfinished', message: /^Nothing matched wait_for_selector 'video' within 2 s\./ }]
  t.match(await shoot(within('/whole', { on_timeout: 'capture', wait_for_selector: 'video' })), { warnings })
})

t.test(
  'worker loading: a page that has not responded, or whose script does not end, is a time-out in any case',
  async (t) => {
    for (const path of ['/never', '/looping']) {
      t.match(await take(within(path, { on_timeout: 'capture' })), { outcome: 'failed', code: 'TIMEOUT' }, path)
    }
  },
)

t.test(
  'worker loading: a document that its policy sandboxes, in which no timer fires, is captured whole',
  async (t) => {
    const url = `${pages.url}/sandboxed`
    t.match(await shoot({ url, full_page: true }), { height: 2016, warnings: [] })
    t.match(await shoot({ url, selector: 'body' }), { height: 2000, warnings: [] })
    t.match(await shoot({ url, click_selector: 'p', wait_for_selector: 'p' }), { height: 800, warnings: [] })
    t.ok((await shoot({ url: `${pages.url}/sandboxed-text`, full_page: true })).height > 2000)
  },
)

t.test('worker loading: refreshes of a second are followed, and those of a page to itself are not', async (t) => {
  const shot = await shoot({ url: `${pages.url}/meta` })
  t.match(shot, { targetStatus: 201, finalUrl: `${pages.url}/arrived`, warnings: [] })
  t.strictSame(await pixel(shot, 900, 600), blue)
  t.match(await shoot({ url: `${pages.url}/again` }), { targetStatus: 200 })
  t.equal(pages.hits.filter((path) => path === '/again').length, 1)
})

t.test(
  'worker loading: a page that shows a loader is captured once it is gone, whatever brings the content',
  async (t) => {
    const late =
      "setTimeout(() => { document.body.innerHTML = '<main style=\"height:100vh;background:rgb(0,0,255)\">'.padEnd(200, ' .') }, 600)"
    for (const loader of [
      '<div class="MuiSkeleton-root" style="height:100px;background:silver"></div><p>A header of the page with so much text</p>',
      '<div role="progressbar" style="height:100px;background:silver"></div>',
      '<div class="splash" style="position:fixed;inset:0;background:silver"></div>',
      '<p>Bitte warten…</p>',
      '<p>読み込み中</p>',
    ]) {
      const shot = await shoot({ html: `<body style="margin:0">${loader}<script>${late}</script>` })
      t.strictSame(await pixel(shot, 900, 600), blue, loader)
    }
  },
)

t.test('worker loading: a form that submits itself leads to the page that is captured', async (t) => {
  t.match(await shoot({ url: `${pages.url}/submitting` }), { targetStatus: 201, finalUrl: `${pages.url}/arrived?a=` })
})

t.test('worker loading: a page without a loader, or whose loader stays, is captured as it is', async (t) => {
  const still = '<p>Text of a page that has no loader at all, and an upload box.</p><div class="uploader">Upload</div>'
  const shown = '<div role="progressbar" aria-valuenow="80" style="height:9px">80 %</div><img class="lazyload">'
  const named =
    '<div class="splash"><h1 class="splash-head">Title</h1></div><span class="MuiCircularProgress-root" role="progressbar" aria-valuenow="30"><svg class="MuiCircularProgress-svg"></svg></span>'
  const late = '<script>setTimeout(() => { document.body.style.background = "red" }, 1200)</script>'
  const white = [255, 255, 255]
  t.strictSame(await pixel(await shoot({ html: still + shown + named + late }), 900, 600), white)
  t.match(await shoot({ html: '<div class="loader">.</div>' }), { warnings: [] })
})

t.test(
  'worker loading: texts of all kinds look alike, without a bar of the browser, if it would download them too',
  async (t) => {
    const plain = await shoot({ url: `${pages.url}/text` })
    for (const path of ['/json', '/json-ld', '/csv', '/calendar', '/yaml']) {
      const shot = await shoot({ url: pages.url + path })
      t.match(shot, { targetStatus: 200, finalUrl: pages.url + path, warnings: [] }, path)
      t.ok(Buffer.from(shot.bytes).equals(plain.bytes), path)
    }
    t.match(await take({ url: `${pages.url}/attached` }), { code: 'INVALID_URL' }, 'one that is to be downloaded')
  },
)

t.test('worker loading: a page made by a style sheet of XML has no notice of the browser over it', async (t) => {
  for (const parameters of [{}, { full_page: true }])
    t.strictSame(await pixel(await shoot({ url: `${pages.url}/feed`, ...parameters }), 640, 4), blue)
})

t.test('worker loading: the error for a PDF names it', async (t) => {
  for (const path of ['/paper', '/paper.pdf'])
    t.match(
      await take({ url: pages.url + path }),
      { code: 'INVALID_URL', blame: 'target', message: /leads to a PDF/ },
      path,
    )
})

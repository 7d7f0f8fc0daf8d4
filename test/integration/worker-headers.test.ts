import { readFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import sharp from 'sharp'
import t from 'tap'
import type { CaptureParameters } from '#shared/capture/options.ts'
import type { Route } from '#test/fixtures/pages/pages.ts'
import { captureWith, startPages, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { makeCertificate } from '#test/helpers/webhook-receiver.ts'
import type { Shot } from '#worker/protocol/protocol.ts'
import { makePageTrust } from '#worker/host/page-trust.ts'

// The target is 127.0.0.1; localhost is another host on the same port.

const received: { host: string; path: string; method: string | undefined; headers: IncomingHttpHeaders }[] = []
const note = ({ url = '', method, headers }: IncomingMessage) => {
  const { hostname, pathname, search } = new URL(url, `http://${headers.host}`)
  received.push({ host: hostname, path: pathname + search, method, headers })
}

/** A page that runs `work` and is settled when `waits` are over; `load` adds one request of each kind to a base URL. */
const loading = (work: string) => `<!doctype html><body><script>
  const waits = []
  const tag = (name, attributes) => waits.push(new Promise((done) => {
    const element = Object.assign(document.createElement(name), attributes)
    element.onload = element.onerror = element.onloadeddata = done
    document.body.append(element)
  }))
  const ask = (...request) => waits.push(fetch(...request).then((answer) => answer.text()).catch(() => {}))
  const talk = (worker) => waits.push(new Promise((done) => {
    (worker.port ?? worker).onmessage = worker.onerror = done
    setTimeout(done, 3000)
  }))
  const load = (base, of) => {
    tag('img', { src: base + '/image?' + of })
    tag('script', { src: base + '/script?' + of })
    tag('script', { src: base + '/module?' + of, type: 'module' })
    tag('link', { href: base + '/css?' + of, rel: 'stylesheet' })
    tag('iframe', { src: base + '/frame?' + of })
    ask(base + '/fetch?' + of)
    ask(base + '/opaque?' + of, { mode: 'no-cors' })
    ask(base + '/kept?' + of, { mode: 'no-cors', keepalive: true })
    ask(base + '/asked?' + of, { method: 'PUT', headers: { 'x-own': '1' } })
    waits.push(new Promise((done) => {
      const request = new XMLHttpRequest()
      request.onloadend = done
      request.open('GET', base + '/xhr?' + of)
      request.send()
    }))
  }
  const run = async () => { ${work} }
  run().then(() => Promise.all(waits)).then(() => { document.body.id = 'settled' })
</script>`

const kinds = ['image', 'script', 'module', 'css', 'frame', 'fetch', 'opaque', 'kept', 'asked', 'xhr']
const worker = (reply: string) => `
  const base = new URL(location.origin)
  const other = base.href.replace('127.0.0.1', 'localhost')
  importScripts('/imported')
  Promise.allSettled([fetch('/of-worker'), fetch(other + 'of-worker', { mode: 'no-cors' })]).then(() => ${reply})`
const workers = `
  talk(new Worker('/worker'))
  talk(new SharedWorker('/shared'))
  const blob = new Blob(["fetch('" + location.origin + "/of-blob').then(() => postMessage(1))"])
  talk(new Worker(URL.createObjectURL(blob)))`
/** Waits for its service worker, then asks it for what the server has too. */
const servedByWorker = `
  await navigator.serviceWorker.register('/red.js')
  const isServing = new Promise((done) => navigator.serviceWorker.addEventListener('controllerchange', done))
  await navigator.serviceWorker.ready
  if (!navigator.serviceWorker.controller) await isServing
  if (await (await fetch('/blue')).text() !== 'blue') document.body.style.background = 'red'`

const html = (text: string) => ({ type: 'text/html', text })
const js = (text: string) => ({ type: 'text/javascript', text })
const bodies: Record<string, (other: string, self: string) => { type: string; text: string }> = {
  '/page': (other, self) =>
    html(loading(`load('', 'own'); load('${other}', 'other'); ask('${self}/away?fetch'); ${workers}`)),
  '/redirected': (_, self) => html(loading(`load('${self}/to-other', 'to-other'); load('${self}/around', 'around')`)),
  '/framing': (other) => html(loading(`tag('iframe', { src: '${other}/framed' })`)),
  '/framed': (_, self) => html(loading(`load('${self}', 'framed')`)),
  '/leaving': (other) => html(`<script>location.href = '${other}/landed'</script>`),
  '/landed': (_, self) => html(`<body id="settled"><img src="${self}/image?landed">`),
  '/worker': () => js(worker('postMessage(1)')),
  '/shared': () => js(`onconnect = ({ ports }) => { ${worker('ports[0].postMessage(1)')} }`),
  '/registering': () => html(loading(`document.body.style.background = 'blue'; ${servedByWorker}`)),
  '/registered': () => html('<body id="settled" style="background:blue">'),
  '/blue': () => ({ type: 'text/plain', text: 'blue' }),
  '/red.js': () =>
    js(`oninstall = () => skipWaiting(); onactivate = (event) => event.waitUntil(fetch('/of-service').then(() => clients.claim()))
      const red = () => new Response('<body id="settled" style="background:red">', { headers: { 'content-type': 'text/html' } })
      onfetch = (event) => event.respondWith(red())`),
}

/** The location of a redirect: the first part of the path selects the host, the rest is the path there. */
const onwardOf = (pathname: string, search: string, other: string, self: string): string | undefined => {
  const [, first = '', ...rest] = pathname.split('/')
  const base = new Map([
    ['to-other', other],
    ['around', `${other}/back`],
    ['back', self],
  ]).get(first)
  return base === undefined ? undefined : `${base}/${rest.join('/')}${search || `?${first}`}`
}

/** The location on another port of the host, by a query of port and scheme. */
const movedTo = (pathname: string, search: string): string | undefined => {
  const { port = '', scheme = '' } = /^\?(?<port>\d+)-(?<scheme>https?)$/.exec(search)?.groups ?? {}
  return pathname === '/moved' ? `${scheme}://127.0.0.1:${port}/landed` : undefined
}

const dot = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
const small = new Map([
  ['/image', { type: 'image/svg+xml', text: dot }],
  ['/css', { type: 'text/css', text: '' }],
  ['/frame', { type: 'text/html', text: '' }],
])

const answer = (request: IncomingMessage, response: ServerResponse) => {
  note(request)
  const { host, origin = '*', authorization } = request.headers
  const { pathname, search, port } = new URL(request.url ?? '', `http://${host}`)
  const [other, self] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`]
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-allow-headers', 'x-own')
  response.setHeader('access-control-allow-methods', 'PUT')
  response.setHeader('cache-control', 'no-store')
  const location = onwardOf(pathname, search, other, self) ?? movedTo(pathname, search)
  if (location !== undefined) {
    response.writeHead(request.method === 'PUT' ? 307 : 302, { location }).end()
    return
  }
  const isLocked = pathname === '/locked' && authorization !== 'Basic dXNlcjpwYXNz'
  const { type, text } = bodies[pathname]?.(other, self) ?? small.get(pathname) ?? js('')
  response.writeHead(isLocked ? 401 : 200, { 'content-type': type }).end(text)
}

const every = new Proxy<Record<string, Route>>({}, { get: () => answer })
const pages = await startPages(every)
const { port } = new URL(pages.url)
const certificate = await makeCertificate(['localhost'])
const tls = { cert: await readFile(certificate.certPath), key: await readFile(certificate.keyPath) }
const secure = await listening(createServer(tls, answer))
const names = { localhost: { A: ['127.0.0.1'] } }
const egress = await startTestEgress(`127.0.0.0/8 localhost:${port} localhost:${secure.port}`, names)
const trust = await makePageTrust(egress.folder, certificate.certPath)
const host = await startTestHost(egress, {}, { trust })
t.teardown(async () => {
  for (const part of [host, egress, secure, certificate, pages]) await part[Symbol.asyncDispose]()
})
t.beforeEach(() => {
  received.length = 0
})

const take = (path: string, parameters: CaptureParameters = {}) =>
  captureWith(host, { url: `${pages.url}${path}`, timeout: 15, ...parameters })
const shoot = async (path: string, parameters: CaptureParameters = {}): Promise<Shot> => {
  const outcome = await take(path, parameters)
  if (outcome.outcome !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.shot
}
const settled = { wait_for_selector: '#settled' }

/** The distinct requested paths of a host: those with the header and those without. */
const requestsTo = (hostName: '127.0.0.1' | 'localhost', name: string, value: string) => {
  const here = received.filter((one) => one.host === hostName)
  const pathsOf = (isPresent: boolean) =>
    [
      ...new Set(here.filter(({ headers }) => (headers[name] === value) === isPresent).map(({ path }) => path)),
    ].toSorted()
  return { having: pathsOf(true), lacking: pathsOf(false) }
}
const each = (query: string, under = '') => kinds.map((kind) => `${under}/${kind}?${query}`)

// Contract: Where `headers` go
t.test(
  'worker headers: headers are sent to the host of the target with every kind of request, and to no other host',
  async (t) => {
    const secret = { headers: { 'X-Secret': 's' } }
    await shoot('/page', { ...secret, ...settled })
    const ofWorkers = ['/worker', '/shared', '/imported', '/of-worker', '/of-blob']
    const own = requestsTo('127.0.0.1', 'x-secret', 's')
    t.strictSame(own.lacking, [])
    t.strictSame(own.having, ['/page', '/away?fetch', ...each('own'), ...ofWorkers].toSorted())
    const other = requestsTo('localhost', 'x-secret', 's')
    t.strictSame(other.having, [])
    t.strictSame(other.lacking, [...each('other'), '/of-worker'].toSorted())
    t.ok(
      received.some(({ method, path }) => method === 'OPTIONS' && path === '/asked?other'),
      'requests to another origin have their usual preflight',
    )
    t.notOk(
      received.some(
        ({ method, headers }) => method === 'OPTIONS' && headers['access-control-request-headers'] !== 'x-own',
      ),
    )

    received.length = 0
    await shoot('/framing', { ...secret, wait_for_selector: '#settled' })
    t.strictSame(requestsTo('127.0.0.1', 'x-secret', 's'), {
      having: [...each('framed'), '/framing'].toSorted(),
      lacking: [],
    })
    t.strictSame(requestsTo('localhost', 'x-secret', 's'), { having: [], lacking: ['/framed'] })
  },
)

// Contract: Where `headers` go
t.test(
  'worker headers: a redirect to another host drops them, and one back to the target has them again',
  async (t) => {
    const values = {
      'X-Secret': 's',
      Authorization: 'Basic YTpi',
      Referer: 'http://mine.test/secret',
      'User-Agent': 'Mine/2',
      'Accept-Language': 'de',
      Cookie: 'mine=1',
      Accept: 'x/secret',
      'Sec-Fetch-Mode': 'secret',
      'Sec-CH-UA': 'secret',
      Range: 'bytes=0-9999',
    }
    await shoot('/redirected', { ...settled, headers: values })
    const there = requestsTo('localhost', 'x-secret', 's')
    t.strictSame(there.having, [])
    t.strictSame(there.lacking, [...each('to-other'), ...each('around', '/back')].toSorted())
    for (const [name, value] of Object.entries(values)) {
      t.strictSame(requestsTo('localhost', name.toLowerCase(), value).having, [], name)
      t.strictSame(requestsTo('127.0.0.1', name.toLowerCase(), value).lacking, [], name)
    }
    const others = received.filter((one) => one.host === 'localhost' && one.method !== 'OPTIONS')
    t.ok(
      others.every(
        ({ headers }) => /Chrome/.test(headers['user-agent'] ?? '') && headers['accept-language'] === 'en-US',
      ),
    )
  },
)

// Contract: Where `headers` go
t.test(
  'worker headers: a target that redirects or navigates to another host is loaded without them there',
  async (t) => {
    const secret = { headers: { 'X-Secret': 's' }, ...settled }
    const away = await shoot('/to-other/landed', secret)
    t.match(away, { targetStatus: 200, finalUrl: `http://localhost:${port}/landed?to-other` })
    t.strictSame(requestsTo('localhost', 'x-secret', 's').having, [])
    t.strictSame(requestsTo('127.0.0.1', 'x-secret', 's'), {
      having: ['/image?landed', '/to-other/landed'],
      lacking: [],
    })
    const around = await shoot('/around/landed', secret)
    t.match(around, { targetStatus: 200, finalUrl: `${pages.url}/landed?around` })
    t.ok(requestsTo('127.0.0.1', 'x-secret', 's').having.includes('/landed?around'))
    const script = await shoot('/leaving', secret)
    t.equal(script.finalUrl, `http://localhost:${port}/landed`)
    t.strictSame(requestsTo('localhost', 'x-secret', 's').having, [])
    t.strictSame(requestsTo('127.0.0.1', 'x-secret', 's').lacking, [])
  },
)

t.test(
  "worker headers: they override the browser's own headers, cookies by name, and values arrive unchanged",
  async (t) => {
    const values = {
      authorization: 'Basic dXNlcjpwYXNz',
      'USER-AGENT': 'Mine/2',
      'accept-language': 'de',
      cookie: 'a=mine',
      'X-Odd': `"a\\b", c; d='e' %0d%0a`,
      'X-Wide': 'é 漢 😀',
      'X-Empty': '',
      "!#$%&'*+.^_`|~": 'x',
      'X-Long': 'l'.repeat(4096),
    }
    const cookies = [
      { name: 'a', value: 'given' },
      { name: 'b', value: '2' },
    ]
    const { targetStatus } = await shoot('/locked', { headers: values, cookies, user_agent: 'Option/1' })
    t.equal(targetStatus, 200)
    const [{ headers } = { headers: {} }] = received as { headers: IncomingHttpHeaders }[]
    const { 'X-Wide': wide, cookie: _, ...rest } = values
    for (const [name, value] of Object.entries(rest)) t.equal(headers[name.toLowerCase()], value, name)
    t.equal(Buffer.from(String(headers['x-wide']), 'latin1').toString(), wide, 'in UTF-8')
    t.equal(headers.cookie, 'a=mine; b=2')
  },
)

t.test('worker headers: a header that Chromium does not send fails the capture with its name', async (t) => {
  const outcome = await take('/landed', { headers: { 'Set-Cookie': 'a=1' } })
  t.match(outcome, { outcome: 'failed', code: 'RENDER_ERROR', message: /does not send Set-Cookie/ })
})

// Contract: Where `headers` go
t.test(
  'worker headers: all headers follow the origin: not to another port of the host, nor from https to http',
  async (t) => {
    const headers = {
      Authorization: 'Basic YTpi',
      Cookie: 'a=b',
      'X-PAT': 'p',
      'Client-Cert': 'c',
      'CF-Access-Client-Id': 'i',
      'X-Variant': 's',
    }
    const ports = [
      { url: `${pages.url}/moved?${secure.port}`, to: 'https' },
      { url: `https://127.0.0.1:${secure.port}/moved?${port}`, to: 'http' },
    ]
    for (const { url, to } of ports) {
      received.length = 0
      await shoot('', { url: `${url}-${to}`, headers, ...settled })
      for (const [name, value] of Object.entries(headers)) {
        const { having, lacking } = requestsTo('127.0.0.1', name.toLowerCase(), value)
        t.ok(
          having.some((path) => path.startsWith('/moved')),
          `${name} reaches the origin of the url`,
        )
        t.ok(lacking.includes('/landed'), `${name} to ${to}`)
      }
    }
  },
)

t.test('worker headers: origins that the caller names receive them too', async (t) => {
  const base = `https://127.0.0.1:${secure.port}`
  const headers = { 'X-Variant': 's' }
  await shoot('/page', {
    headers,
    header_origins: [base, `http://localhost:${port}`],
    js: `await new Promise((done) => Object.assign(new Image(), { onload: done, src: '${base}/image?tls' }))`,
    ...settled,
  })
  t.ok(requestsTo('127.0.0.1', 'x-variant', 's').having.includes('/image?tls'))
  t.strictSame(requestsTo('localhost', 'x-variant', 's').lacking, [])
  t.ok(requestsTo('localhost', 'x-variant', 's').having.includes('/image?other'))
})

t.test('worker headers: the next capture of the same browser does not send them', async (t) => {
  await shoot('/page', { ...settled, headers: { 'X-Secret': 's' } })
  received.length = 0
  await shoot('/page', settled)
  await shoot('/page', { ...settled, headers: { 'X-Other': 'o' } })
  t.strictSame(requestsTo('127.0.0.1', 'x-secret', 's').having, [])
  t.ok(received.length > 40)
})

t.test(
  'worker headers: a service worker serves the pages of its own capture only, and its requests have the headers',
  async (t) => {
    const colour = async (path: string, parameters: Parameters<typeof shoot>[1]) => {
      const { bytes } = await shoot(path, { ...settled, ...parameters })
      const image = sharp(bytes).removeAlpha().extract({ left: 600, top: 600, width: 1, height: 1 })
      return [...(await image.raw().toBuffer())]
    }
    for (const headers of [{}, { 'X-Secret': 's' }]) {
      received.length = 0
      for (const second of ['', `location.href = '/registered'`])
        t.strictSame(await colour('/registering', { headers, ...(second && { js: second, delay: 1 }) }), [255, 0, 0])
      const isSent = 'X-Secret' in headers
      t.equal(requestsTo('127.0.0.1', 'x-secret', 's').having.includes('/of-service'), isSent)
      t.notOk(
        received.some(({ path }) => path === '/registered'),
        'it serves what the page goes to',
      )
      t.strictSame(await colour('/registered', { headers }), [0, 0, 255], 'and nothing of the next capture')
    }
  },
)

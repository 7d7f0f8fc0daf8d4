import type { IncomingMessage, ServerResponse } from 'node:http'
import t from 'tap'
import { stealthChromiumPath } from '#test/helpers/bare-browser.ts'
import { captureWith, startPages, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'

/** What a page fetches before anything needs it: not found, disconnected before and within its response, without an end. */
const guesses: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/gone': (response) => response.writeHead(404).end('gone'),
  '/reset': (response) => response.destroy(),
  '/cut': (response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': '1000' }).write('<p>cut')
    setTimeout(() => response.destroy(), 100)
  },
  '/hanging': () => {},
  '/endless-body': (response) => response.writeHead(200, { 'content-type': 'text/html' }).write('<p>more'),
}
/** The guesses that reached the server since the page was served, with their header `Sec-Purpose`. */
const reached = new Map<string, string>()
const note = (path: string, { headers }: IncomingMessage) => reached.set(path, String(headers['sec-purpose']))

const speculating = (path: string) =>
  `<script type="speculationrules">{ "prefetch": [{ "source": "list", "urls": ["${path}"], "eagerness": "immediate" }] }</script>`
const rendering = (path: string) =>
  `<script type="speculationrules">{ "prerender": [{ "source": "list", "urls": ["${path}"], "eagerness": "immediate" }] }</script>`
const linking = (path: string) => `<link rel="prefetch" href="${path}">`

const guessing = Object.fromEntries(
  Object.entries(guesses).map(([path, answer]) => [
    path,
    (request: IncomingMessage, response: ServerResponse) => {
      note(path, request)
      answer(response)
    },
  ]),
)
/** Serves a page that guesses; an image holds its load event until the guess has been sent and its answer, if any, has come. */
const pageWith = (markup: string, path: string) => (_request: unknown, response: ServerResponse) => {
  response.setHeader('content-type', 'text/html')
  response.end(`<!doctype html><title>page</title><p>page</p>${markup}<img src="/held?${path}">`)
}
const pages = await startPages({
  ...guessing,
  '/held': ({ url = '' }, response) => {
    const path = url.split('?')[1] ?? ''
    const poll = setInterval(() => {
      if (!reached.has(path)) return
      clearInterval(poll)
      setTimeout(() => response.writeHead(404).end(), 300)
    }, 20)
    response.on('close', () => clearInterval(poll))
  },
  '/next': (request, response) => {
    note('/next', request)
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>next</title><p>next')
  },
  '/goes-on': (_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`${rendering('/next')}<img src="/held?/next" onerror="location.href = '/next'">`)
  },
  ...Object.fromEntries(
    Object.keys(guesses).flatMap((path) => [
      [`/speculates${path}`, pageWith(speculating(path), path)],
      [`/links${path}`, pageWith(linking(path), path)],
      [`/renders${path}`, pageWith(rendering(path), path)],
    ]),
  ),
})
const egress = await startTestEgress(pages.host)
const host = await startTestHost(egress)
const full = await startTestHost(egress, { browsers: { prewarmed: 'full', binaries: { full: stealthChromiumPath } } })
t.teardown(async () => {
  await Promise.all([host, full].map((each) => each[Symbol.asyncDispose]()))
  await egress[Symbol.asyncDispose]()
  await pages[Symbol.asyncDispose]()
})

const kinds = [
  { kind: 'speculates', on: host, stealth: false, purpose: 'prefetch' },
  { kind: 'links', on: host, stealth: false, purpose: 'prefetch' },
  // Only full Chromium renders ahead.
  { kind: 'renders', on: full, stealth: true, purpose: 'prefetch;prerender' },
]

for (const { kind, on: environment, stealth, purpose } of kinds) {
  t.test(
    `worker speculation: what a page ${kind} ahead neither fails nor delays its capture, nor is taken for its page`,
    async (t) => {
      for (const path of Object.keys(guesses)) {
        reached.clear()
        const url = `${pages.url}/${kind}${path}`
        const outcome = await captureWith(environment, { url, timeout: 20, wait_until: 'network_idle', stealth })
        t.match(outcome, { outcome: 'completed', shot: { targetStatus: 200 } }, url)
        t.equal(reached.get(path), purpose, `${path} was requested`)
        const waitedMs = (outcome.timings.navigate ?? 0) + (outcome.timings.prepare ?? 0)
        t.ok(waitedMs < 6000, `${url}: loaded and prepared in ${waitedMs} ms`)
      }
    },
  )
}

t.test('worker speculation: a page that goes on to what it has rendered ahead is captured there', async (t) => {
  const outcome = await captureWith(full, { url: `${pages.url}/goes-on`, timeout: 20, delay: 3, stealth: true })
  t.match(outcome, { outcome: 'completed', shot: { targetStatus: 200, finalUrl: `${pages.url}/next` } })
  t.equal(reached.get('/next'), 'prefetch;prerender', 'it is requested once, ahead')
})

import type { ServerResponse } from 'node:http'
import t from 'tap'
import { captureWith, startPages, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'

/** What a page fetches before anything needs it: not found, broken off before and within its response, without an end. */
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
/** The guesses that reached the server since the page was served. */
const reached = new Set<string>()

const speculating = (path: string) =>
  `<script type="speculationrules">{ "prefetch": [{ "source": "list", "urls": ["${path}"], "eagerness": "immediate" }] }</script>`
const linking = (path: string) => `<link rel="prefetch" href="${path}">`

const guessing = Object.fromEntries(
  Object.entries(guesses).map(([path, answer]) => [
    path,
    (_request: unknown, response: ServerResponse) => {
      reached.add(path)
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
  ...Object.fromEntries(
    Object.keys(guesses).flatMap((path) => [
      [`/speculates${path}`, pageWith(speculating(path), path)],
      [`/links${path}`, pageWith(linking(path), path)],
    ]),
  ),
})
const egress = await startTestEgress(pages.host)
const host = await startTestHost(egress)
t.teardown(async () => {
  await host[Symbol.asyncDispose]()
  await egress[Symbol.asyncDispose]()
  await pages[Symbol.asyncDispose]()
})

for (const kind of ['speculates', 'links']) {
  t.test(
    `worker speculation: what a page ${kind} ahead neither fails nor delays its capture, nor is taken for its page`,
    async (t) => {
      for (const path of Object.keys(guesses)) {
        reached.clear()
        const url = `${pages.url}/${kind}${path}`
        const outcome = await captureWith(host, { url, timeout: 20, wait_until: 'network_idle' })
        t.match(outcome, { outcome: 'completed', shot: { targetStatus: 200 } }, url)
        t.ok(reached.has(path), `${path} was requested`)
        const waitedMs = (outcome.timings.navigate ?? 0) + (outcome.timings.prepare ?? 0)
        t.ok(waitedMs < 6000, `${url}: loaded and prepared in ${waitedMs} ms`)
      }
    },
  )
}

import { createRequire } from 'node:module'
import { Ajv, type AnySchemaObject } from 'ajv'
import t from 'tap'
import type { CaptureParameters } from '#shared/capture/options.ts'
import type { Route } from '#test/fixtures/pages/pages.ts'
import { contentsOf, startCaptureEnvironment } from '#test/helpers/shots.ts'
import type { ConsoleMessage } from '#worker/browser-host/capture/record/console-log.ts'
import type { HarEntry, HarPage } from '#worker/browser-host/capture/record/har.ts'

type Har = { log: { version: string; comment?: string; pages: HarPage[]; entries: HarEntry[] } }
type Messages = { truncated: boolean; messages: ConsoleMessage[] }

const require = createRequire(import.meta.url)
/** The schema of HAR 1.2; its formats are not checked. */
const isHar = (() => {
  const ajv = new Ajv({ strict: false, validateFormats: false })
  ajv.addMetaSchema(require('ajv/lib/refs/json-schema-draft-06.json') as AnySchemaObject)
  ajv.addSchema(Object.values(require('har-schema') as Record<string, AnySchemaObject>))
  return ajv.getSchema('har.json#')!
})()

const document =
  (body: string): Route =>
  (_request, response) =>
    void response
      .writeHead(200, { 'content-type': 'text/html', 'x-session': 'reply-secret' })
      .end(`<!doctype html>${body}`)
const json: Route = (_request, response) =>
  void response
    .writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'sid=cookie-secret' })
    .end('{"secret":"body-secret"}')

const { pages, shoot } = await startCaptureEnvironment(t, {
  '/moved': (_request, response) =>
    void response.writeHead(302, { location: '/page?token=query-secret#hash-secret' }).end(),
  '/page': (request, response) =>
    document(`<title>Page</title><img src="/missing.png?sig=image-secret"><img src="http://10.0.0.1/private.png">
      <iframe src="http://localhost:${pages.host.split(':')[1]}/framed?k=frame-secret"></iframe><script>
      console.log('%cgot %s of %d', 'color:red', 'one', 2, { a: 1, get b() { document.title = 'called' } }, [1, 'x'])
      console.warn(location.href, document.cookie, '/relative?code=relative-secret')
      fetch('/api?x=api-secret', { method: 'POST', body: 'sent-secret', headers: { Authorization: 'Bearer page-secret' } })
      new WebSocket('ws://' + location.host + '/socket?s=socket-secret')
      new Worker(URL.createObjectURL(new Blob(["fetch('http://${pages.host}/api?w=worker-secret'); console.info('in a worker')"])))
      setTimeout(() => {
        null.missing
      })</script>`)(request, response),
  '/framed': document("<p>framed</p><script>console.debug('in a frame'); fetch('/api?f=framed-secret')</script>"),
  '/api': json,
  '/held': () => {},
  '/slow': document('<img src="/held">'),
  '/many': document(
    '<script>for (let at = 0; at < 2500; at += 1) { fetch("data:," + at); console.log(at) }</script><h1>many</h1>',
  ),
})

const record = async (parameters: CaptureParameters) => {
  const shot = await shoot({ outputs: ['har', 'console'], ...parameters })
  const contents = contentsOf(t, shot)
  const { log } = JSON.parse(String(contents.get('har'))) as Har
  const { messages, truncated } = JSON.parse(String(contents.get('console'))) as Messages
  t.ok(isHar({ log }), JSON.stringify(isHar.errors))
  for (const { timings, time } of log.entries) {
    t.ok(Object.values(timings).every((each) => each === -1 || each >= 0))
    const { ssl: _ssl, ...parts } = timings
    t.ok(Math.abs(time - Object.values(parts).reduce((sum, each) => sum + Math.max(0, each), 0)) < 0.01)
  }
  return { ...shot, log, messages, truncated, text: `${String(contents.get('har'))}${String(contents.get('console'))}` }
}
const pathOf = ({ request: { url } }: HarEntry) => URL.parse(url)?.pathname

t.test(
  'worker page log: a HAR has the requests of page, frames, workers and sockets with times, sizes and status',
  async (t) => {
    const { log, warnings } = await record({ url: `${pages.url}/moved` })
    t.same(warnings, [])
    const find = (path: string, text = '') =>
      log.entries.find((each) => pathOf(each) === path && each.request.url.includes(text))
    t.match(log.pages, [{ id: 'page_1', title: `${pages.url}/moved` }])
    t.ok(log.pages[0]!.pageTimings.onLoad > 0)
    t.match(find('/moved'), {
      response: { status: 302, redirectURL: `${pages.url}/page?token=***` },
      pageref: 'page_1',
    })
    t.match(find('/page'), { response: { status: 200, content: { mimeType: 'text/html' } }, _resourceType: 'document' })
    t.ok(find('/page')!.response.content.size > 500)
    t.match(find('/missing.png'), { response: { status: 404 }, _resourceType: 'image' })
    t.match(find('/private.png'), {
      response: { status: 0, _error: 'net::ERR_SOCKS_CONNECTION_FAILED' },
      comment: /not public/,
    })
    t.match(find('/framed'), { response: { status: 200 } })
    t.match(find('/api', '?x'), { request: { method: 'POST', bodySize: -1 }, response: { content: { size: 24 } } })
    t.ok(find('/api', '?f') && find('/api', '?w'), 'of a frame of another site and of a worker')
    t.match(find('/socket'), { response: { _error: /404/ }, _resourceType: 'websocket' })
    t.equal(log.entries.length, new Set(log.entries.map(({ request }) => request.url)).size, 'each once')
  },
)

t.test(
  'worker page log: the console has calls and exceptions with their position, and what the browser says',
  async (t) => {
    const { messages, truncated } = await record({ url: `${pages.url}/page` })
    t.notOk(truncated)
    const find = (text: string) => messages.find((each) => each.text.includes(text))
    const url = `${pages.url}/page`
    t.match(find('got'), {
      level: 'info',
      source: 'console',
      text: 'got one of 2 {a: 1, b: …} [1, x]',
      url,
      line: 3,
      column: 15,
    })
    const uncaught = {
      level: 'error',
      source: 'exception',
      text: /^Uncaught TypeError: [^\n]+$/,
      url,
      line: 9,
      column: 14,
    }
    t.match(find('Uncaught'), { ...uncaught, stack: [{ url, line: 9 }] })
    t.match(find('in a worker'), { source: 'console', level: 'info', url: /^blob:/ })
    t.match(find('in a frame'), { source: 'console', level: 'verbose', url: /localhost/ })
    t.match(find('404'), { source: 'network', level: 'error', url: `${pages.url}/missing.png?sig=***` })
    t.equal(messages.filter(({ text }) => text === 'in a worker').length, 1)
  },
)

t.test('worker page log: contains no secret of the caller or of an address', async (t) => {
  const host = pages.host
  const { text, log } = await record({
    url: `http://user-secret:password-secret@${host}/moved?first=first-secret`,
    headers: { 'X-Key': 'header-secret', Authorization: 'Bearer bearer-secret', 'Accept-Language': 'language-secret' },
    header_origins: [`http://${host}`],
    cookies: [{ name: 'mine', value: 'jar-secret', domain: '127.0.0.1' }],
    local_storage: { key: 'storage-secret' },
    js: "console.log('bearer-secret jar-secret storage-secret first-secret', localStorage.key, document.cookie)",
  })
  t.strictSame([...new Set(text.match(/[a-z]+-secret/g))], [])
  t.match(log.entries.find((each) => pathOf(each) === '/page')?.response.headers, [])
  t.ok(text.includes('"x-session","value":"***"'), 'headers have their names')
})

t.test('worker page log: what has not ended, and what parameters block, says so', async (t) => {
  const { log } = await record({ url: `${pages.url}/slow`, wait_until: 'domcontentloaded' })
  t.match(
    log.entries.find((each) => pathOf(each) === '/held'),
    { response: { status: 0 }, comment: /^Not finished/ },
  )
  const blocked = await record({ url: `${pages.url}/page`, block_requests: ['*/missing.png*'] })
  t.match(
    blocked.log.entries.find((each) => pathOf(each) === '/missing.png'),
    {
      response: { _error: /ERR_BLOCKED_BY_CLIENT/ },
      comment: /^Blocked by a parameter/,
    },
  )
})

t.test('worker page log: HTML has no page of its own; with a PDF it is the same', async (t) => {
  const html = `<img src="${pages.url}/missing.png"><script>console.log('from html')</script>`
  const { log, messages, mimeType } = await record({ html, format: 'pdf' })
  t.match(messages, [{ text: 'from html' }, { level: 'error' }])
  t.match(log.entries, [{ response: { status: 404 } }])
  t.equal(mimeType, 'application/pdf')
})

t.test('worker page log: more than their bounds is cut, with a warning', async (t) => {
  const { log, messages, truncated, warnings } = await record({ url: `${pages.url}/many` })
  t.equal(log.entries.length, 2000)
  t.match(log.comment, /^Only the first 2000 requests; 50\d more/)
  t.equal(messages.length, 1000)
  t.ok(truncated)
  t.match(warnings, [
    { code: 'output_truncated', message: /^outputs: har has only the first 2000 requests/ },
    { code: 'output_truncated', message: /^outputs: console has only the first 1000 messages/ },
  ])
})

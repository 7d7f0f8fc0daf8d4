import { EventEmitter } from 'node:events'
import t from 'tap'
import { toContinuation, interceptRequests } from '#worker/browser-host/capture/page/intercept-requests.ts'
import { createSessionDouble } from '#test/helpers/session-double.ts'

const origin = 'http://target.test'
const own = { Accept: '*/*', 'User-Agent': 'Own/1', Referer: 'http://target.test/' }
const paused = (url: string, more: object = {}, headers: Readonly<Record<string, string>> = own) => ({
  requestId: 'a',
  request: { url, headers },
  ...more,
})
const continued = (request: ReturnType<typeof paused>, values: Readonly<Record<string, string>>) => {
  const { headers, ...rest } = toContinuation(request, { origins: [origin], values })
  return { ...rest, ...(headers && { headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) }) }
}

t.test('intercept requests: adds headers for their origins only', async (t) => {
  const added = { requestId: 'a', headers: { ...own, 'X-A': '1' } }
  for (const url of ['http://target.test/', 'http://target.test:80/a?b', 'http://user:pass@target.test/'])
    t.strictSame(continued(paused(url), { 'X-A': '1' }), added, url)
  for (const url of [
    'https://target.test/',
    'http://target.test:8080/',
    'http://www.target.test/',
    'http://target.test.other.test/',
    'http://target.test@other.test/',
    'http://other.test/?http://target.test/',
    'data:text/html,target.test',
    'no address',
  ])
    t.strictSame(continued(paused(url), { 'X-A': '1' }), { requestId: 'a' }, url)
})

t.test(
  'intercept requests: a header of the caller replaces that of the browser, ignoring upper and lower case',
  async (t) => {
    const { headers } = continued(paused('http://target.test/'), { 'user-agent': 'Mine/2', ACCEPT: 'x/y' })
    t.strictSame(headers, { Referer: own.Referer, 'user-agent': 'Mine/2', ACCEPT: 'x/y' })
  },
)

t.test('intercept requests: a given Cookie replaces cookies of the same names, and keeps the others', async (t) => {
  const cookieFor = (given: string, held?: string) => {
    const request = paused('http://target.test/', {}, held === undefined ? {} : { Cookie: held })
    return continued(request, { cookie: given }).headers
  }
  t.strictSame(cookieFor('a=9; d', 'a=1; b=2;c=3'), { cookie: 'a=9; d; b=2; c=3' })
  t.strictSame(cookieFor('a=9'), { cookie: 'a=9' })
  t.strictSame(cookieFor('', 'a=1'), { cookie: 'a=1' })
})

t.test('intercept requests: without headers a request continues unchanged', async (t) => {
  t.strictSame(toContinuation(paused('http://target.test/', { redirectedRequestId: 'b' }), undefined), {
    requestId: 'a',
  })
})

t.test('intercept requests: each hop of a redirect starts afresh; other hosts get no given Referer', async (t) => {
  const hop = { redirectedRequestId: 'b' }
  t.strictSame(continued(paused('http://other.test/', hop), { 'Sec-A': '1' }), {
    requestId: 'a',
    url: 'http://other.test/',
  })
  const withFragment = {
    requestId: 'a',
    ...hop,
    request: { url: 'http://other.test/', urlFragment: '#x', headers: {} },
  }
  t.equal(toContinuation(withFragment, { origins: [origin], values: { a: '1' } }).url, 'http://other.test/#x')
  t.match(continued(paused('http://target.test/', hop), { 'Sec-A': '1' }), {
    url: 'http://target.test/',
    headers: { 'Sec-A': '1' },
  })
  t.strictSame(continued(paused('http://other.test/'), { referer: 'http://mine.test/' }), {
    requestId: 'a',
    headers: { Accept: '*/*', 'User-Agent': 'Own/1', Referer: '' },
  })
})

const pausedScript = (url: string) => ({
  requestId: 'a',
  frameId: 'f',
  resourceType: 'Script',
  request: { url, headers: {} },
})

/** A browser that records its commands; `fails` is what continuing a request throws. */
const spied = (fails?: string) => {
  const requested: string[] = []
  const events = new EventEmitter()
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  const session = createSessionDouble({
    events,
    send: async (method) => {
      requested.push(method)
      if (method === 'Fetch.continueRequest' && fails !== undefined) throw new Error(fails)
    },
  })
  const attach = async (until: Promise<void>) => {
    void until.then(() => requested.push('detached'))
    requested.push('session')
    return session
  }
  return { open: { browser: { attach }, closed }, requested, events, close }
}

t.test('intercept requests: intercepts only with headers or rules, and until the context is closed', async (t) => {
  const idle = spied()
  await interceptRequests(idle.open, { headers: undefined, refuses: undefined })
  t.strictSame(idle.requested, [])
  const { open, requested, events, close } = spied()
  await interceptRequests(open, { headers: { origins: [origin], values: { a: '1' } }, refuses: undefined })
  events.emit('Fetch.requestPaused', pausedScript('http://target.test/'))
  t.strictSame(requested, ['session', 'Fetch.enable', 'Fetch.continueRequest'])
  close()
  await open.closed
  t.equal(requested.at(-1), 'detached')
})

t.test(
  'intercept requests: fails requests that match a rule, and continues all others, with headers or without',
  async (t) => {
    for (const headers of [undefined, { origins: [origin], values: { a: '1' } }]) {
      const { open, requested, events } = spied()
      await interceptRequests(open, { headers, refuses: ({ url }) => url.endsWith('/ad') })
      events.emit('Fetch.requestPaused', pausedScript('http://target.test/ad'))
      events.emit('Fetch.requestPaused', pausedScript('http://target.test/page'))
      t.strictSame(requested, ['session', 'Fetch.enable', 'Fetch.failRequest', 'Fetch.continueRequest'])
    }
  },
)

t.test(
  'intercept requests: a header that Chromium rejects fails the capture; a request that is gone does not',
  async (t) => {
    const refusing = spied('Protocol error (Fetch.continueRequest): Unsafe header: Set-Cookie')
    const bad = { headers: { origins: [origin], values: { 'Set-Cookie': '1' } }, refuses: undefined }
    const { refused } = await interceptRequests(refusing.open, bad)
    refusing.events.emit('Fetch.requestPaused', pausedScript('http://target.test/'))
    await t.rejects(refused, { code: 'RENDER_ERROR', publicMessage: /does not send Set-Cookie/ })
    const gone = spied('Protocol error (Fetch.continueRequest): Invalid InterceptionId.')
    const sending = await interceptRequests(gone.open, {
      headers: { origins: [origin], values: { a: '1' } },
      refuses: undefined,
    })
    gone.events.emit('Fetch.requestPaused', pausedScript('http://target.test/'))
    const later = new Promise((wake) => setImmediate(() => wake('pending')))
    t.equal(await Promise.race([sending.refused, later]), 'pending')
  },
)

import { EventEmitter } from 'node:events'
import t from 'tap'
import { followRefreshes, MainDocument } from '#worker/browser-host/capture/page/watch-document.ts'
import { createSessionDouble } from '#test/helpers/session-double.ts'

/** A main frame whose events the test emits. */
const watched = () => {
  const events = new EventEmitter()
  const document = new MainDocument(createSessionDouble({ events }), 'main')
  return {
    document,
    asks: (loaderId: string, url: string, { frameId = 'main', type = 'Document' } = {}) =>
      events.emit('Network.requestWillBeSent', { requestId: loaderId, loaderId, frameId, type, request: { url } }),
    answers: (requestId: string, status: number) =>
      events.emit('Network.responseReceived', { requestId, response: { headers: {}, status } }),
    fails: (requestId: string, errorText: string) => events.emit('Network.loadingFailed', { requestId, errorText }),
    shows: (loaderId: string, url: string) =>
      events.emit('Page.frameNavigated', { frame: { id: 'main', loaderId, url } }),
    stops: (frameId = 'main') => events.emit('Page.frameStoppedLoading', { frameId }),
    clears: () => events.emit('Page.frameClearedScheduledNavigation', { frameId: 'main' }),
    refreshes: (url: string, delay: number, reason = 'metaTagRefresh') =>
      events.emit('Page.frameScheduledNavigation', { frameId: 'main', url, delay, reason }),
    loads: (frameId = 'main') => events.emit('Page.lifecycleEvent', { frameId, name: 'load' }),
  }
}

const isPending = async (work: Promise<unknown>): Promise<boolean> => {
  const later = new Promise((wake) => setImmediate(() => wake('later')))
  return (await Promise.race([work, later])) === 'later'
}

t.test('watch document: reports address, status and failure of the last requested document', async (t) => {
  const { document, asks, answers, fails } = watched()
  asks('1', 'http://a.test/')
  asks('1', 'http://b.test/')
  asks('9', 'http://frame.test/', { frameId: 'frame' })
  answers('1', 404)
  t.match(document.requested(), { url: 'http://b.test/', status: 404, netError: undefined })
  asks('2', 'http://c.test/')
  t.match(document.requested(), { url: 'http://c.test/', status: undefined })
  fails('2', 'net::ERR_CONNECTION_REFUSED')
  t.match(document.requested(), { netError: 'ERR_CONNECTION_REFUSED' })
})

t.test('watch document: a prefetch, with a loader of its own, is not the document', async (t) => {
  const { document, asks, answers, fails, shows } = watched()
  asks('1', 'http://a.test/')
  answers('1', 200)
  shows('1', 'http://a.test/')
  asks('2', 'http://next.test/', { type: 'Prefetch' })
  t.notOk(document.isNavigating())
  answers('2', 404)
  fails('2', 'net::ERR_CONTENT_LENGTH_MISMATCH')
  t.match(document.requested(), { url: 'http://a.test/', status: 200, netError: undefined })
  t.ok(await isPending(document.cutOff))
})

t.test('watch document: a wait for the load event ends with that of the document shown last', async (t) => {
  const { document, shows, loads } = watched()
  document.expectLoad()
  const loaded = document.loaded()
  shows('1', 'http://a.test/')
  shows('2', 'http://b.test/')
  loads('frame')
  t.ok(await isPending(loaded))
  loads()
  await loaded
  t.equal(document.address(), 'http://b.test/')
})

t.test('watch document: a navigation lasts until its document is shown or has failed', async (t) => {
  const { document, asks, fails, shows } = watched()
  t.notOk(document.isNavigating())
  asks('1', 'http://a.test/')
  t.ok(document.isNavigating())
  shows('1', 'http://a.test/')
  t.notOk(document.isNavigating())
  asks('2', 'http://b.test/')
  fails('2', 'net::ERR_ABORTED')
  t.notOk(document.isNavigating())
})

t.test('watch document: a document interrupted after its head is cut off, an aborted one is not', async (t) => {
  const { document, asks, answers, fails } = watched()
  for (const error of ['net::ERR_ABORTED', 'net::ERR_HTTP_RESPONSE_CODE_FAILURE']) {
    asks('1', 'http://a.test/')
    answers('1', 200)
    fails('1', error)
  }
  t.ok(await isPending(document.cutOff))
  asks('2', 'http://a.test/')
  answers('2', 200)
  fails('2', 'net::ERR_CONNECTION_RESET')
  await t.rejects(document.cutOff, { code: 'CONNECTION_FAILED' })
})

t.test(
  'watch document: a navigation to a download or an app leaves the document shown, its address and its status',
  (t) => {
    const { document, asks, answers, fails, shows } = watched()
    asks('1', 'http://a.test/')
    answers('1', 203)
    shows('1', 'http://a.test/')
    asks('2', 'http://a.test/file.zip')
    answers('2', 200)
    fails('2', 'net::ERR_ABORTED')
    t.match(document.requested(), { url: 'http://a.test/', status: 203, netError: undefined })
    asks('3', 'harbour://open')
    fails('3', 'net::ERR_ABORTED')
    t.match(document.requested(), { url: 'http://a.test/', status: 203, netError: undefined })
    t.notOk(document.isNavigating())
    t.end()
  },
)

t.test('watch document: a first request that is aborted is reported', (t) => {
  const { document, asks, fails } = watched()
  asks('1', 'http://a.test/file.zip')
  fails('1', 'net::ERR_ABORTED')
  t.match(document.requested(), { url: 'http://a.test/file.zip', netError: 'ERR_ABORTED' })
  t.end()
})

t.test(
  'watch document: a document without a load event has loaded once its frame stops loading, not while it is left',
  async (t) => {
    const { document, asks, fails, shows, stops } = watched()
    document.expectLoad()
    const loaded = document.loaded()
    stops()
    asks('1', 'http://a.test/')
    stops()
    shows('1', 'http://a.test/')
    asks('2', 'http://b.test/')
    stops()
    t.ok(await isPending(loaded))
    fails('2', 'net::ERR_ABORTED')
    stops('frame')
    t.ok(await isPending(loaded))
    stops()
    await loaded
  },
)

t.test('watch document: a refresh to another address is awaited if it comes within 5 s', (t) => {
  const { document, refreshes, shows } = watched()
  const shownAt = (url: string) => {
    shows('1', url)
    t.equal(document.refreshesAt(), undefined)
  }
  shownAt('http://a.test/')
  refreshes('http://a.test/next', 5, 'httpHeaderRefresh')
  t.ok((document.refreshesAt() ?? 0) > performance.now() + 4000)
  for (const [url, seconds, reason] of [
    ['http://a.test/next', 6, 'metaTagRefresh'],
    ['http://a.test/#top', 1, 'metaTagRefresh'],
    ['http://a.test/next', 0, 'scriptInitiated'],
  ] as const) {
    shownAt('http://a.test/')
    refreshes(url, seconds, reason)
    t.equal(document.refreshesAt(), undefined, `${url} in ${seconds} s, ${reason}`)
  }
  t.end()
})

t.test('watch document: refreshes are followed to the document that they lead to', async (t) => {
  const { document, asks, shows, loads, clears, refreshes } = watched()
  const open = { document, session: createSessionDouble({ send: async () => ({}) }) }
  await followRefreshes(open, performance.now() + 10_000)
  shows('1', 'http://a.test/')
  loads()
  refreshes('http://b.test/', 0.1)
  const followed = followRefreshes(open, performance.now() + 10_000)
  t.ok(await isPending(followed))
  clears()
  t.ok(await isPending(followed), 'its request is reported later')
  asks('2', 'http://b.test/')
  shows('2', 'http://b.test/')
  loads()
  await followed
  t.equal(document.address(), 'http://b.test/')
})

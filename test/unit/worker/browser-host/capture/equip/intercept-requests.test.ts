import { EventEmitter } from 'node:events'
import t from 'tap'
import type { Session } from '#worker/browser-host/browser/connection.ts'
import type { Browser } from '#worker/browser-host/browser/launch.ts'
import { interceptRequests } from '#worker/browser-host/capture/equip/intercept-requests.ts'

const host = 'target.test'
const paused = (url: string) => ({
  requestId: 'a',
  frameId: 'f',
  resourceType: 'Script',
  request: { url, headers: {} },
})

/** A browser that writes down what is asked of it; `fails` is what continuing a request throws. */
const spied = (fails?: string) => {
  const asked: string[] = []
  const events = new EventEmitter()
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  const session = {
    id: 'interception',
    on: events.on.bind(events),
    send: async (method: string) => {
      asked.push(method)
      if (method === 'Fetch.continueRequest' && fails !== undefined) throw new Error(fails)
    },
  } as unknown as Session
  const attach = async (until: Promise<void>) => {
    void until.then(() => asked.push('detached'))
    asked.push('session')
    return session
  }
  return { open: { browser: { session, attach } as unknown as Browser, closed }, asked, events, close }
}

t.test('without headers and rules nothing is intercepted; with them until the context has closed', async (t) => {
  const idle = spied()
  await interceptRequests(idle.open, { headers: undefined, refuses: undefined })
  t.strictSame(idle.asked, [])
  const { open, asked, events, close } = spied()
  await interceptRequests(open, { headers: { host, values: { a: '1' } }, refuses: undefined })
  events.emit('Fetch.requestPaused', paused('http://target.test/'))
  t.strictSame(asked, ['session', 'Fetch.enable', 'Fetch.continueRequest'])
  close()
  await open.closed
  t.equal(asked.at(-1), 'detached')
})

t.test('what rules refuse fails, and all else goes on, with headers or without', async (t) => {
  for (const headers of [undefined, { host, values: { a: '1' } }]) {
    const { open, asked, events } = spied()
    await interceptRequests(open, { headers, refuses: ({ url }) => url.endsWith('/ad') })
    events.emit('Fetch.requestPaused', paused('http://target.test/ad'))
    events.emit('Fetch.requestPaused', paused('http://target.test/page'))
    t.strictSame(asked, ['session', 'Fetch.enable', 'Fetch.failRequest', 'Fetch.continueRequest'])
  }
})

t.test('a header that Chromium sends for nobody fails the capture; a request that is gone does not', async (t) => {
  const refusing = spied('Protocol error (Fetch.continueRequest): Unsafe header: Set-Cookie')
  const bad = { headers: { host, values: { 'Set-Cookie': '1' } }, refuses: undefined }
  const { refused } = await interceptRequests(refusing.open, bad)
  refusing.events.emit('Fetch.requestPaused', paused('http://target.test/'))
  await t.rejects(refused, { code: 'RENDER_ERROR', publicMessage: /does not send Set-Cookie/ })
  const gone = spied('Protocol error (Fetch.continueRequest): Invalid InterceptionId.')
  const sending = await interceptRequests(gone.open, { headers: { host, values: { a: '1' } }, refuses: undefined })
  gone.events.emit('Fetch.requestPaused', paused('http://target.test/'))
  const later = new Promise((wake) => setImmediate(() => wake('pending')))
  t.equal(await Promise.race([sending.refused, later]), 'pending')
})

import { EventEmitter } from 'node:events'
import t from 'tap'
import { outputBytesMax } from '#shared/capture/files.ts'
import { type CaptureParameters, withDefaults } from '#shared/capture/options.ts'
import { createSessionDouble } from '#test/helpers/session-double.ts'
import { planCapture } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { recordPage } from '#worker/browser-host/capture/record/page-log.ts'

const startLog = (outputs: CaptureParameters['outputs'], refusal?: 'denied_by_account') => {
  const events = new EventEmitter()
  const sent: string[] = []
  const observers: unknown[] = []
  const answer = async (method: string) => {
    sent.push(method)
    return { cookies: [{ value: 'cookie-value' }] }
  }
  const session = createSessionDouble({ events, send: answer })
  const open = {
    session,
    browser: { session },
    mainFrameId: 'main',
    contextId: 'context',
    observeTargets: (observe: unknown) => void observers.push(observe),
  }
  const filters = {
    traffic: { findRefusal: () => refusal },
    blocker: { hasRefused: (host: string) => host === 'ads.example' },
  }
  const plan = planCapture(withDefaults({ url: 'https://example.com/', ...(outputs && { outputs }) }))
  return { read: recordPage(open, plan, filters), events, sent, observers }
}

const willBeSent = (requestId: string, url: string) => ({
  ...{ requestId, loaderId: 'loader', frameId: 'main', type: 'Image', timestamp: 1, wallTime: 1_800_000_000 },
  request: { method: 'GET', url, headers: { Accept: '*/*', Cookie: 'a=b' } },
})
const writes = (value: string) => ({
  ...{ type: 'log', timestamp: 1_800_000_000_000, executionContextId: 1 },
  args: [{ type: 'string', value }],
})

t.test('page log: without its outputs no command is sent, and no event handled', async (t) => {
  for (const outputs of [undefined, ['html', 'mhtml'] as const]) {
    const { read, events, sent, observers } = startLog(outputs && [...outputs])
    t.strictSame([events.eventNames(), sent, observers], [[], [], []])
    t.equal(await read('har'), undefined)
  }
  const { sent, events } = startLog(['har'])
  t.strictSame(sent, [], 'the network of a page is reported for every capture')
  t.notOk(events.eventNames().some((name) => /^(?:Runtime|Log)\./.test(String(name))))
})

t.test('page log: a request that is refused says by whom', async (t) => {
  const { read, events } = startLog(['har'])
  events.emit('Network.requestWillBeSent', willBeSent('1', 'https://ads.example/a.js'))
  events.emit('Network.loadingFailed', { requestId: '1', timestamp: 2, errorText: 'net::ERR_SOCKS_CONNECTION_FAILED' })
  t.match((await read('har'))?.text, /"comment":"Blocked by a parameter/)
  const listed = startLog(['har'], 'denied_by_account')
  listed.events.emit('Network.requestWillBeSent', willBeSent('1', 'https://other.example/a.js'))
  listed.events.emit('Network.loadingFailed', { requestId: '1', timestamp: 2, errorText: 'net::ERR_FAILED' })
  t.match((await listed.read('har'))?.text, /do not allow connections to other\.example/)
})

t.test('page log: a hundred thousand requests with long addresses stay within the size of an output', async (t) => {
  const { read, events } = startLog(['har'])
  const query = Array.from({ length: 100 }, (_, at) => `${'n'.repeat(100)}${at}=v`).join('&')
  for (let at = 0; at < 100_000; at += 1)
    events.emit('Network.requestWillBeSent', willBeSent(String(at), `https://example.com/?${query}`))
  const har = await read('har')
  t.ok(Buffer.byteLength(har!.text) < outputBytesMax)
  const { log } = JSON.parse(har!.text) as { log: { comment: string; entries: unknown[] } }
  const omitted = 100_000 - log.entries.length
  t.ok(log.entries.length > 500 && log.comment.includes(`${omitted} more`), log.comment)
})

t.test(
  'page log: a gigabyte of messages stays within its bound, and is no longer reported by the browser',
  async (t) => {
    const { read, events, sent } = startLog(['console'])
    const long = writes('x'.repeat(1_000_000))
    for (let at = 0; at < 1000; at += 1) events.emit('Runtime.consoleAPICalled', long)
    const found = await read('console')
    t.ok(Buffer.byteLength(found!.text) < 20_000)
    t.match(JSON.parse(found!.text), { truncated: true })
    t.strictSame(sent.slice(0, 4), ['Runtime.enable', 'Log.enable', 'Runtime.disable', 'Log.disable'])
  },
)

t.test('page log: cookies that the page has are masked in its messages', async (t) => {
  const { read, events } = startLog(['console'])
  events.emit('Runtime.consoleAPICalled', writes('sid=cookie-value'))
  t.match(JSON.parse((await read('console'))!.text), { truncated: false, messages: [{ text: 'sid=***' }] })
})

import { PassThrough } from 'node:stream'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { connect } from '#worker/browser-host/browser/connection.ts'

type SentCommand = { id: number; method: string; sessionId?: string; params?: unknown }

/** A connection whose other end is the test: the commands sent, and a way to send messages to it. */
const connected = () => {
  const [to, from] = [new PassThrough(), new PassThrough()]
  const connection = connect(to, from)
  const commands = () =>
    ((to.read() as Buffer | null)?.toString() ?? '')
      .split('\0')
      .filter(Boolean)
      .map((text) => JSON.parse(text) as SentCommand)
  const receive = (...messages: object[]) => from.write(messages.map((each) => `${JSON.stringify(each)}\0`).join(''))
  return { ...connection, commands, receive, from }
}

t.test('connection: matches responses to commands, in any order and any chunks', async (t) => {
  const { browser, commands, from } = connected()
  const version = browser.send('Browser.getVersion')
  const targets = browser.send('Target.getTargets')
  t.match(commands(), [{ method: 'Browser.getVersion' }, { method: 'Target.getTargets' }])
  const answers = '{"id":2,"result":{"targetInfos":["é"]}}\0{"id":1,"result":{"product":"X/1"}}\0'
  for (const byte of Buffer.from(answers)) from.write(Buffer.from([byte]))
  t.same(await targets, { targetInfos: ['é'] })
  t.same(await version, { product: 'X/1' })
})

t.test('connection: an error of the browser is thrown, and names the command', async (t) => {
  const { browser, receive } = connected()
  const asking = browser.send('Browser.getVersion')
  receive({ id: 1, error: { message: 'not now' } })
  await t.rejects(asking, { message: 'Browser.getVersion: not now' })
})

t.test('connection: an event reaches its own session only', async (t) => {
  const { findSession, receive } = connected()
  const receivedBy: string[] = []
  for (const id of ['a', 'b']) findSession(id).on('Page.loadEventFired', () => receivedBy.push(id))
  receive({ method: 'Page.loadEventFired', sessionId: 'b', params: {} })
  await eventually(() => receivedBy.length > 0)
  t.strictSame(receivedBy, ['b'])
})

t.test('connection: commands to a target that closes or has closed are rejected', async (t) => {
  const { browser, findSession, receive } = connected()
  const page = findSession('page')
  const [of, other] = [page.send('Page.enable'), browser.send('Browser.getVersion')]
  receive({ method: 'Target.detachedFromTarget', params: { sessionId: 'page' } }, { id: 2, result: {} })
  await t.rejects(of, /target is closed/)
  await t.resolves(other)
  await page.closed
  t.notOk(page.isOpen())
  await t.rejects(page.send('Page.enable'), /target is closed/)
})

t.test('connection: pending commands are rejected when the browser exits', async (t) => {
  const { browser, ended, from } = connected()
  const asking = browser.send('Browser.getVersion')
  from.destroy()
  await t.rejects(asking, /target is closed/)
  t.ok(ended.aborted)
})

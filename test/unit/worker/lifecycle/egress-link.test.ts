import { createServer } from 'node:http'
import t from 'tap'
import { refusalHeader } from '#shared/net/refusal.ts'
import { watchAuthority } from '#shared/net/watch-egress.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { type EgressLink, linkEgress } from '#worker/lifecycle/egress-link.ts'
import { createPullGate } from '#worker/lifecycle/pull-gate.ts'

/** A link to an egress that refuses the forbidden target of a check with the reason that `refuse` resolves to, by default `blocked`. */
const startLink = async (refuse: { next: () => Promise<string | undefined> }) => {
  await using started = new AsyncDisposableStack()
  const server = createServer()
  server.on('connect', ({ url }, socket) => {
    if (url === watchAuthority) {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      return void socket.on('data', (pings: Buffer) => socket.write(pings))
    }
    return void refuse
      .next()
      .then((reason = 'blocked') => socket.end(`HTTP/1.1 403 Forbidden\r\n${refusalHeader}: ${reason}\r\n\r\n`))
  })
  const { port } = started.use(await listening(server))
  const gate = createPullGate()
  const link: EgressLink = started.use(linkEgress({ egress: { host: '127.0.0.1', port }, egressToken: '' }, gate))
  const isUp = () => link.isUpSince(link.outages(), false)
  const rest = started.move()
  return { link, gate, isUp, [Symbol.asyncDispose]: () => rest.disposeAsync() }
}

t.test(
  'egress link: after a failed connection the check has ended before the result, and holds the worker',
  async (t) => {
    const refuse = { next: async (): Promise<string | undefined> => undefined }
    await using started = await startLink(refuse)
    const { link, gate, isUp } = started
    await eventually(isUp, { what: 'egress is watched' })
    const before = link.outages()
    const checked = Promise.withResolvers<string>()
    refuse.next = () => checked.promise
    let isDecided = false
    const decided = link.isUpSince(before, true).finally(() => (isDecided = true))
    // The watch responds to pings meanwhile.
    t.equal(await isUp(), true)
    t.equal(await isUp(), true)
    t.notOk(isDecided)
    checked.resolve('overloaded')
    t.equal(await decided, true, 'the attempt is not blamed on egress')
    await eventually(() => gate.holds().has('egress'), { what: 'the worker is held' })
    t.equal(await link.isUpSince(before, false), false)
  },
)

t.test('egress link: a worker is held until egress refuses a forbidden target', async (t) => {
  const refuse = { next: async (): Promise<string | undefined> => 'overloaded' }
  await using started = await startLink(refuse)
  const { gate, isUp } = started
  await eventually(() => gate.holds().has('egress'), { what: 'the worker is held' })
  t.match(gate.holds().get('egress'), /SHUTTERFLEET_EGRESS_CONNECTIONS_MAX/)
  t.equal(await isUp(), false)
  refuse.next = async () => undefined
  await eventually(isUp, { what: 'egress is watched' })
  t.same([...gate.holds()], [])
})

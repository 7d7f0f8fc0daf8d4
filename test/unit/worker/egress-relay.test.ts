import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { createEgressRelay } from '#worker/egress-relay.ts'
import { listening } from '#test/helpers/egress-filter.ts'

const egressToken = 'a-token-of-sixteen'
const header = `Proxy-Authorization: Bearer ${egressToken}\r\n`

/** A relay to a server that takes in all that a client says, and answers `heard`. */
const startRelay = async (token = egressToken) => {
  const stack = new AsyncDisposableStack()
  const received: Promise<string>[] = []
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const all = text(socket).catch(() => 'broken off')
    received.push(all)
    void all.then(() => socket.end('heard'))
  })
  const { port } = stack.use(await listening(server))
  const relay = stack.use(
    await listening(createEgressRelay({ egress: { host: '127.0.0.1', port }, egressToken: token })),
  )
  const open = async (allowHalfOpen = true): Promise<Socket> => {
    const client = connect({ port: relay.port, host: '127.0.0.1', allowHalfOpen })
    await once(client, 'connect')
    return client
  }
  return { open, received, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

t.test('egress relay: shows the token behind the first line, in whatever pieces it comes', async (t) => {
  await using relay = await startRelay()
  const request = 'CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\nbytes\r\nmore'
  for (const pieces of [[request], [request.slice(0, 5), request.slice(5)], request.split('')]) {
    const client = await relay.open()
    for (const piece of pieces) await new Promise((written) => void client.write(piece, written))
    client.end()
    t.equal(await text(client), 'heard', 'the answer comes back as it is')
    t.equal(await relay.received.at(-1), request.replace('\r\n', `\r\n${header}`))
  }
})

t.test('egress relay: passes a stream without a line on without the token', async (t) => {
  await using relay = await startRelay()
  const client = await relay.open()
  client.end('GET http://a.test/')
  await text(client)
  t.notMatch(await relay.received.at(-1), egressToken)
})

t.test('egress relay: cuts a first line that is longer than a head may be', async (t) => {
  await using relay = await startRelay()
  const client = await relay.open(false)
  client.on('error', () => {})
  client.write(Buffer.alloc(70_000, 'x'))
  await once(client.resume(), 'close')
  t.pass('cut')
})

t.test('egress relay: adds nothing where egress asks for no token', async (t) => {
  await using relay = await startRelay('')
  const client = await relay.open()
  client.end('CONNECT a.test:443 HTTP/1.1\r\n\r\n')
  t.equal(await text(client), 'heard')
  t.equal(await relay.received.at(-1), 'CONNECT a.test:443 HTTP/1.1\r\n\r\n')
})

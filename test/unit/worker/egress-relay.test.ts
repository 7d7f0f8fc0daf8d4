import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { createEgressRelay } from '#worker/egress-relay.ts'
import { listening } from '#test/helpers/egress-filter.ts'

const egressToken = 'a-token-of-sixteen'
const header = `Proxy-Authorization: Bearer ${egressToken}\r\n`

/** A relay to a server that takes in all that a client says, and answers `heard`. */
const startRelay = async (token = egressToken, bytesMax?: number) => {
  const stack = new AsyncDisposableStack()
  const received: Promise<string>[] = []
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const all = text(socket).catch(() => 'broken off')
    received.push(all)
    void all.then(() => socket.end('heard'))
  })
  const { port } = stack.use(await listening(server))
  const { server: relayServer, restartCount } = createEgressRelay(
    { egress: { host: '127.0.0.1', port }, egressToken: token },
    bytesMax,
  )
  const relay = stack.use(await listening(relayServer))
  const open = async (allowHalfOpen = true): Promise<Socket> => {
    const client = connect({ port: relay.port, host: '127.0.0.1', allowHalfOpen })
    await once(client, 'connect')
    return client
  }
  return { open, received, restartCount, [Symbol.asyncDispose]: () => stack.disposeAsync() }
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

/** Sends so many bytes on a connection of its own; answers what came back, and '' where it was cut. */
const send = async (relay: Awaited<ReturnType<typeof startRelay>>, bytes: number): Promise<string> => {
  const client = await relay.open(false)
  client.on('error', () => {})
  client.setEncoding('utf8')
  let answer = ''
  client.on('data', (piece: string) => {
    answer += piece
  })
  client.end('x'.repeat(bytes))
  await once(client, 'close').catch(() => {})
  return answer
}

t.test('egress relay: cuts all connections once both directions together are beyond the bound', async (t) => {
  await using relay = await startRelay('', 1000)
  const other = await relay.open(false)
  other.on('error', () => {})
  t.equal(await send(relay, 400), 'heard')
  t.equal(await send(relay, 400), 'heard', 'the answers count too: 810 by now')
  await send(relay, 186) // Within the bound but for its answer, which may still arrive.
  if (!other.closed) await once(other.resume(), 'close').catch(() => {})
  t.equal(await send(relay, 1), '', 'no connection from here on')
})

t.test('egress relay: only its owner begins a new count', async (t) => {
  await using relay = await startRelay('', 1000)
  t.equal(await send(relay, 2000), '')
  t.equal(await send(relay, 1), '')
  relay.restartCount()
  t.equal(await send(relay, 900), 'heard')
  relay.restartCount()
  t.equal(await send(relay, 900), 'heard')
  t.equal(await send(relay, 900), '')
})

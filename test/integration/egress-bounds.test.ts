import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { type Filter, listening, targetRules, startFilter } from '#test/helpers/egress-filter.ts'
import { checkEgress } from '#shared/net/check-egress.ts'
import { watchEgress } from '#shared/net/watch-egress.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { askProxy } from '#test/helpers/proxy-client.ts'

const rules = targetRules('127.0.0.1')

/** How the next connection ended; it is recorded shortly after the client sees its end. */
const nextEnd = async ({ events }: Filter): Promise<unknown> => {
  await eventually(() => events.some(({ name }) => name === 'ended'))
  const index = events.findIndex(({ name }) => name === 'ended')
  return events.splice(index, 1)[0]?.args[1]
}

/** A TCP server that keeps the sockets of its clients. */
const startPeer = async (onSocket: (socket: Socket) => void = () => {}) => {
  const sockets: Socket[] = []
  const running = await listening(
    createServer((socket) => {
      sockets.push(socket)
      onSocket(socket)
    }),
  )
  return { ...running, sockets }
}

t.test('egress bounds: of connections that sent no token, one address gets a quarter', async (t) => {
  // With the 256 that get a refusal.
  await using filter = await startFilter({ rules, connectionsMax: 144 })
  const open = (localAddress: string) => {
    const socket = connect({ port: filter.port, host: '127.0.0.1', localAddress }).on('error', () => {})
    t.teardown(() => socket.destroy())
    return socket
  }
  const sockets = Array.from({ length: 120 }, () => open('127.0.0.1'))
  await eventually(() => sockets.filter(({ closed }) => closed).length === 20)
  t.equal(filter.events.filter(({ name }) => name === 'overloaded').length, 20)
  await once(open('127.0.0.2'), 'connect')
  sockets[0]?.destroy()
  await using peer = await startPeer((socket) => socket.resume())
  await eventually(() => filter.events.some(({ name }) => name === 'clientGone'))
  const { status, socket } = await askProxy({ port: filter.port, line: `CONNECT 127.0.0.1:${peer.port}` })
  t.equal(status, 200)
  socket.destroy()
})

t.test('egress bounds: closes both ends of an idle tunnel', async (t) => {
  await using peer = await startPeer((socket) => socket.resume())
  await using filter = await startFilter({ rules, idleMs: 200 })
  const { socket } = await askProxy({ port: filter.port, line: `CONNECT 127.0.0.1:${peer.port}` })
  await once(socket.resume(), 'close')
  await eventually(() => peer.sockets[0]?.destroyed === true)
  t.match(await nextEnd(filter), { end: 'idle' })
})

t.test('egress bounds: responds with 504 if a target accepts a request and stays silent', async (t) => {
  await using peer = await startPeer((socket) => socket.resume())
  await using filter = await startFilter({ rules, idleMs: 200 })
  const answer = await askProxy({ port: filter.port, line: `GET http://127.0.0.1:${peer.port}/` })
  t.match(answer, { status: 504, refusal: 'connection_failed' })
})

t.test('egress bounds: cuts a connection over its byte limit, in a tunnel and in a response', async (t) => {
  const megabyte = Buffer.alloc(1_048_576)
  await using peer = await startPeer((socket) => socket.write(megabyte))
  await using page = await listening(createHttpServer((_, response) => void response.end(megabyte)))
  await using filter = await startFilter({ rules, connectionBytesMax: 100_000 })
  const { socket } = await askProxy({ port: filter.port, line: `CONNECT 127.0.0.1:${peer.port}` })
  await once(socket.resume(), 'close')
  t.match(await nextEnd(filter), { end: 'bytes' })
  const { body } = await askProxy({ port: filter.port, line: `GET http://127.0.0.1:${page.port}/` })
  t.ok(body.length < megabyte.length, 'the response was cut')
  t.match(await nextEnd(filter), { end: 'bytes' })
})

t.test('egress bounds: uploads count like downloads, in a tunnel and in a request', async (t) => {
  const upload = Buffer.alloc(1_048_576)
  await using peer = await startPeer((socket) => socket.resume())
  await using page = await listening(
    createHttpServer((request, response) => void request.resume().on('end', () => response.end('took it all'))),
  )
  await using filter = await startFilter({ rules, connectionBytesMax: 100_000 })
  const { socket } = await askProxy({ port: filter.port, line: `CONNECT 127.0.0.1:${peer.port}` })
  socket.write(upload)
  // Data in flight when the tunnel is cut resets the connection.
  await once(socket.resume(), 'close').catch(() => {})
  t.match(await nextEnd(filter), { end: 'bytes' })
  const line = `POST http://127.0.0.1:${page.port}/`
  const post = (bytes: number) =>
    askProxy({ port: filter.port, line, headers: [`Content-Length: ${bytes}`], body: 'x'.repeat(bytes) })
  t.not((await post(upload.length)).status, 200)
  await eventually(() => filter.events.some(({ name }) => name === 'refused'))
  t.match(await post(99_000), { status: 200, body: 'took it all' })
})

t.test('egress bounds: refuses connections over the limit as overloaded, but not liveness watches', async (t) => {
  await using filter = await startFilter({ rules, connectionsMax: 1 })
  const first = connect({ port: filter.port, host: '127.0.0.1' })
  await once(first, 'connect')
  for (const line of ['CONNECT 10.0.0.1:443', 'GET http://10.0.0.1/']) {
    t.match(await askProxy({ port: filter.port, line }), { status: 503, refusal: 'overloaded' })
  }
  t.equal(filter.events.filter(({ name }) => name === 'overloaded').length, 2)
  const address = { host: '127.0.0.1', port: filter.port }
  using watch = await watchEgress(address)
  t.ok(await watch.ping())
  await t.rejects(checkEgress(address), { message: /SHUTTERFLEET_EGRESS_CONNECTIONS_MAX/ })
  first.destroy()
  await eventually(() =>
    checkEgress(address).then(
      () => true,
      () => false,
    ),
  )
})

t.test('egress bounds: cuts clients if too many wait for a response', async (t) => {
  await using filter = await startFilter({ rules, connectionsMax: 1 })
  const watches = await Promise.all(
    Array.from({ length: 3 }, () => watchEgress({ host: '127.0.0.1', port: filter.port })),
  )
  t.teardown(() => {
    for (const watch of watches) watch[Symbol.dispose]()
  })
  // Of five addresses: one gets a quarter.
  const clientAt = (n: number) =>
    connect({ port: filter.port, host: '127.0.0.1', localAddress: `127.0.0.${2 + (n % 5)}` })
  const clients = Array.from({ length: 256 }, (_, n) => clientAt(n))
  await Promise.all(clients.map((client) => once(client, 'connect')))
  t.match(
    await askProxy({ port: filter.port, line: 'CONNECT 10.0.0.1:443' }),
    { refusal: 'overloaded' },
    'beside watches',
  )
  clients.push(clientAt(256))
  await once(clients[256]!, 'connect')
  t.equal((await askProxy({ port: filter.port, line: 'CONNECT 10.0.0.1:443' })).status, 0)
  t.ok(filter.events.some(({ name }) => name === 'overloaded'))
  for (const client of clients) client.destroy()
})

t.test('egress bounds: refuses a client with oversized headers as a bad request, not as a server fault', async (t) => {
  await using filter = await startFilter({ rules })
  const headers = [`X-Large: ${'x'.repeat(70_000)}`]
  const answer = await askProxy({ port: filter.port, line: 'CONNECT 10.0.0.1:443', headers })
  t.match(answer, { status: 400, refusal: 'bad_request' })
  t.ok(filter.events.some(({ name }) => name === 'unreadable'))
})

t.test('egress bounds: refuses a response with oversized headers', async (t) => {
  await using peer = await startPeer((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\nX-Large: ${'x'.repeat(70_000)}\r\n\r\n`),
  )
  await using filter = await startFilter({ rules })
  const answer = await askProxy({ port: filter.port, line: `GET http://127.0.0.1:${peer.port}/` })
  t.match(answer, { status: 502, refusal: 'connection_failed' })
})

t.test('egress bounds: does not serve pipelined requests', async (t) => {
  await using peer = await startPeer((socket) => socket.resume())
  await using filter = await startFilter({ rules })
  const client = connect({ port: filter.port, host: '127.0.0.1' })
  client.write(`GET http://127.0.0.1:${peer.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(3))
  await once(client.resume(), 'close')
  await eventually(() => peer.sockets.every((socket) => socket.destroyed))
  t.ok(peer.sockets.length <= 1, 'at most one connection was opened')
})

t.test(
  'egress bounds: serves sequential requests on a kept client connection, each over a new target connection',
  async (t) => {
    const ports = new Set<number | undefined>()
    await using page = await listening(
      createHttpServer((request, response) => {
        ports.add(request.socket.remotePort)
        response.end('page')
      }),
    )
    await using filter = await startFilter({ rules })
    const client = connect({ port: filter.port, host: '127.0.0.1' })
    for (let index = 0; index < 3; index += 1) {
      client.write(`GET http://127.0.0.1:${page.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`)
      let answer = ''
      while (!answer.endsWith('page')) answer += String(((await once(client, 'data')) as [Buffer])[0])
      t.match(answer, /^HTTP\/1\.1 200 OK/)
    }
    client.destroy()
    t.equal(ports.size, 3)
  },
)

t.test('egress bounds: closes the other end when one end disconnects', async (t) => {
  await using peer = await startPeer((socket) => socket.resume())
  await using filter = await startFilter({ rules })
  const ask = () => askProxy({ port: filter.port, line: `CONNECT 127.0.0.1:${peer.port}` })
  const first = await ask()
  first.socket.resetAndDestroy()
  await eventually(() => peer.sockets[0]?.destroyed === true)
  const second = await ask()
  await eventually(() => peer.sockets.length === 2)
  peer.sockets[1]?.resetAndDestroy()
  if (!second.socket.closed) await once(second.socket.resume(), 'close').catch(() => {})
  const upload = connect({ port: filter.port, host: '127.0.0.1' })
  upload.write(`POST http://127.0.0.1:${peer.port}/ HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf`)
  await eventually(() => peer.sockets.length === 3)
  upload.destroy()
  await eventually(() => peer.sockets[2]?.destroyed === true)
  await eventually(() => filter.events.filter(({ name }) => name === 'clientGone').length === 3)
  t.pass('every socket is closed')
})

t.test('egress bounds: holds a fast sender back for a slow reader', async (t) => {
  let sent = 0
  await using peer = await startPeer((socket) => {
    const chunk = Buffer.alloc(65_536)
    const push = () => {
      while (sent < 67_108_864) {
        sent += chunk.length
        if (!socket.write(chunk)) break
      }
    }
    socket.on('drain', push)
    push()
  })
  await using filter = await startFilter({ rules, connectionBytesMax: 1_073_741_824 })
  const { socket } = await askProxy({ port: filter.port, line: `CONNECT 127.0.0.1:${peer.port}` })
  let before = -1
  await eventually(() => {
    const still = sent === before
    before = sent
    return still
  })
  t.ok(sent < 33_554_432, `${sent} bytes left the sender although no client read them`)
  socket.destroy()
})

t.test('egress bounds: draining accepts no client, lets tunnels end, and cuts those left after the wait', async (t) => {
  await using peer = await startPeer((socket) => socket.resume())
  await using filter = await startFilter({ rules })
  const ask = () => askProxy({ port: filter.port, line: `CONNECT 127.0.0.1:${peer.port}` })
  const ending = await ask()
  const staying = await ask()
  const drained = filter.drain(1000)
  t.equal((await ask()).status, 0, 'a new client is not accepted')
  ending.socket.end()
  t.equal(await text(ending.socket), '')
  t.notOk(staying.socket.destroyed)
  await drained
  await eventually(() => peer.sockets.length === 2 && peer.sockets.every((socket) => socket.destroyed))
  staying.socket.destroy()
})

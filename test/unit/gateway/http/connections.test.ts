import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { trackConnections } from '#gateway/http/connections.ts'
import { eventually } from '#test/helpers/eventually.ts'

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

const start = async (t: Test, listener: RequestListener) => {
  const server = createServer({ keepAliveTimeout: 60_000 }, listener)
  const leaving = new AbortController()
  const closeConnections = trackConnections(server, leaving.signal)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.closeAllConnections())
  const open = async () => {
    const accepted = once(server, 'connection')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    await accepted
    return socket
  }
  const stop = () => {
    const closed = once(server, 'close')
    server.close()
    closeConnections()
    return closed
  }
  return { open, stop, leave: () => leaving.abort() }
}

const received = (socket: Socket) => {
  let all = ''
  socket.on('data', (chunk: Buffer) => {
    all += chunk.toString()
  })
  return () => all
}

t.test('connections: closes idle connections immediately on stop', async (t) => {
  const { open, stop } = await start(t, (_, response) => response.end('ok'))
  const [silent, used] = [await open(), await open()]
  const answer = received(used)
  used.write(get)
  await eventually(() => answer().endsWith('ok\r\n0\r\n\r\n') || answer().endsWith('ok'))
  const ends = [once(silent, 'close'), once(used, 'close')]
  silent.resume()
  await Promise.all([...ends, stop()])
  t.same([silent.closed, used.closed], [true, true])
})

t.test('connections: closes a connection after the last byte of a response in progress', async (t) => {
  let finish = () => {}
  const { open, stop } = await start(t, (_, response) => {
    response.write('begun ')
    finish = () => void response.end('and ended')
  })
  const socket = await open()
  const answer = received(socket)
  socket.write(get)
  await eventually(() => answer().includes('begun'))
  const [stopped, closed] = [stop(), once(socket, 'close')]
  t.equal(socket.closed, false)
  finish()
  await Promise.all([stopped, closed])
  t.match(answer(), /and ended\r\n0\r\n\r\n$/)
})

t.test('connections: serves a request whose head was incomplete at the stop', async (t) => {
  let heads = 0
  const { open, stop } = await start(t, (_, response) => {
    heads += 1
    response.setHeader('connection', 'close').end('served')
  })
  const socket = await open()
  socket.write(get.slice(0, 10))
  const other = await open()
  other.write(get)
  await text(other)
  const stopped = stop()
  socket.write(get.slice(10))
  t.match(await text(socket), 'served')
  await stopped
  t.equal(heads, 2)
})

t.test('connections: a response is the last of its connection once the service is leaving', async (t) => {
  const { open, leave, stop } = await start(t, (_, response) => response.end('ok'))
  const socket = await open()
  const answer = received(socket)
  socket.write(get)
  await eventually(() => answer().includes('ok'))
  t.notMatch(answer(), /connection: close/i)
  leave()
  t.equal(socket.closed, false, 'a request may be on its way')
  socket.write(get)
  await once(socket, 'close')
  t.match(answer(), /connection: close[^]*ok/i)
  await stop()
})

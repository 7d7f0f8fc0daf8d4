import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t, { type Test } from 'tap'
import { endSlowBodies } from '#gateway/http/slow-bodies.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { rawHead } from '#test/helpers/raw-client.ts'

/** A server with a clock that the test sets forward, the addresses of slow connections, and a request whose body is announced. */
const start = async (t: Test) => {
  const clock = { ms: 0 }
  const ended: (number | undefined)[] = []
  const server = createServer()
  endSlowBodies(server, () => clock.ms)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') ended.push((socket as IncomingMessage['socket']).remotePort)
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const announce = async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    t.teardown(() => socket.destroy())
    socket.write(rawHead('POST /', ['Host: a', 'Content-Length: 7000000']))
    const [request] = (await once(server, 'request')) as [IncomingMessage]
    return { socket, request, port: request.socket.remotePort, bytesRead: () => request.socket.bytesRead }
  }
  return { clock, ended, announce }
}

t.test('slow bodies: what brings less than 64 KiB in ten seconds is ended; what brings more is not', async (t) => {
  const { clock, ended, announce } = await start(t)
  const [slow, fast, early] = [await announce(), await announce(), await announce()]
  for (const { request } of [slow, fast, early]) request.resume()
  slow.socket.write(Buffer.alloc(60 * 1024))
  fast.socket.write(Buffer.alloc(66 * 1024))
  await eventually(() => slow.bytesRead() > 60 * 1024 && fast.bytesRead() > 66 * 1024)
  clock.ms = 9_999
  const late = await announce()
  late.request.resume()
  clock.ms = 10_000
  early.socket.write(Buffer.alloc(7_000_000))
  await eventually(() => early.request.complete)
  await eventually(() => ended.length > 0)
  t.same(ended, [slow.port])
  clock.ms = 25_000
  await eventually(() => ended.length === 3)
  t.same(new Set(ended), new Set([slow.port, fast.port, late.port]), 'the next ten seconds brought nothing')
})

t.test('slow bodies: what waits for us to read it is not the fault of the client', async (t) => {
  const { clock, ended, announce } = await start(t)
  const [unread, slow] = [await announce(), await announce()]
  unread.socket.write('some')
  slow.request.resume()
  await eventually(() => unread.request.readableLength > 0)
  clock.ms = 20_000
  await eventually(() => ended.length > 0)
  t.same(ended, [slow.port])
})

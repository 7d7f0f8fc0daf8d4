import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { Bodies } from '#gateway/http/bodies.ts'
import { clientAt, parseHop } from '#shared/policy/client.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { rawHead } from '#test/helpers/raw-client.ts'

const bytesMax = 1000

/** Bodies of which 4000 bytes are received at a time, and requests with a head of which a body is announced. */
const start = async (t: Test, bodyBytesMax = bytesMax) => {
  const refused: string[] = []
  let bytes = 0
  const events = { bodyRefused: (bound: string) => refused.push(bound), bodyBytes: (held: number) => (bytes = held) }
  const bodies = new Bodies(events, 4 * bodyBytesMax)
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const announce = async (header: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    t.teardown(() => socket.destroy())
    socket.write(rawHead('POST /', ['Host: a', header]))
    const [request] = (await once(server, 'request')) as [IncomingMessage]
    return { socket, request }
  }
  const read = (request: IncomingMessage, address: string, accountId?: string) =>
    bodies.read(request, { bytesMax: bodyBytesMax, client: () => clientAt(parseHop(address)), accountId })
  return { held: () => bytes, refused, announce, read }
}

const announced = `Content-Length: ${bytesMax}`

t.test('bodies: what is being received of one client is bounded by its share, before it is read', async (t) => {
  const { held, refused, announce, read } = await start(t)
  const first = await announce(announced)
  const reading = read(first.request, '192.0.2.1')
  t.equal(held(), bytesMax)
  const second = await announce(announced)
  await t.rejects(read(second.request, '192.0.2.1'), { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 })
  t.equal(second.request.listenerCount('data'), 0, 'nothing of it is read')
  first.socket.write(Buffer.alloc(bytesMax, 'a'))
  t.equal((await reading).length, bytesMax)
  t.same([held(), refused], [0, ['client']])
  const third = await announce('Content-Length: 2')
  third.socket.write('{}')
  t.equal(String(await read(third.request, '192.0.2.1')), '{}', 'which is free again')
})

t.test('bodies: those of one account share a bound, and so do all', async (t) => {
  const { announce, read, refused } = await start(t)
  void read((await announce(announced)).request, '192.0.2.1', 'a').catch(() => {})
  await t.rejects(read((await announce(announced)).request, '192.0.2.2', 'a'), { code: 'SERVICE_UNAVAILABLE' })
  for (const last of [2, 3, 4]) void read((await announce(announced)).request, `192.0.2.${last}`).catch(() => {})
  await t.rejects(read((await announce(announced)).request, '192.0.2.5'), { code: 'SERVICE_UNAVAILABLE' })
  t.same(refused, ['account', 'all'])
})

t.test('bodies: one that is too large counts nothing', async (t) => {
  const { held, announce, read } = await start(t)
  const large = await announce(`Content-Length: ${bytesMax + 1}`)
  await t.rejects(read(large.request, '192.0.2.1'), {
    code: 'PAYLOAD_TOO_LARGE',
    publicMessage: `The body is larger than ${bytesMax} bytes.`,
  })
  t.equal(held(), 0)
  const chunked = await announce('Transfer-Encoding: chunked')
  const reading = read(chunked.request, '192.0.2.1')
  t.equal(held(), bytesMax)
  chunked.socket.write(`${(bytesMax + 1).toString(16)}\r\n${'a'.repeat(bytesMax + 1)}\r\n`)
  await t.rejects(reading, { code: 'PAYLOAD_TOO_LARGE' })
  t.equal(held(), 0)
})

t.test('bodies: a body of unknown length takes 64 KiB, and more as it grows', async (t) => {
  const kib = 1024
  const { held, announce, read } = await start(t, 200 * kib)
  const write = ({ socket }: { socket: Socket }, bytes: number) =>
    socket.write(`${bytes.toString(16)}\r\n${'a'.repeat(bytes)}\r\n`)
  const one = await announce('Transfer-Encoding: chunked')
  const reading = read(one.request, '192.0.2.1')
  t.equal(held(), 64 * kib)
  write(one, 65 * kib)
  await eventually(() => held() === 128 * kib)
  const other = await announce('Transfer-Encoding: chunked')
  const refused = read(other.request, '192.0.2.1')
  t.equal(held(), 192 * kib)
  write(other, 65 * kib)
  await t.rejects(refused, { code: 'SERVICE_UNAVAILABLE' })
  one.socket.write('0\r\n\r\n')
  t.equal((await reading).length, 65 * kib)
  t.equal(held(), 0)
})

t.test('bodies: a client that leaves gives its share back', async (t) => {
  const { held, announce, read } = await start(t)
  const { socket, request } = await announce(announced)
  const reading = read(request, '192.0.2.1')
  socket.destroy()
  await t.rejects(reading, { code: 'BAD_REQUEST' })
  t.equal(held(), 0)
})

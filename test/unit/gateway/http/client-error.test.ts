import t, { type Test } from 'tap'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { createApp } from '#gateway/app.ts'
import { completedCapture, createTestContext, pendingCapture, testKey } from '#test/helpers/gateway-context.ts'
import { eventually } from '#test/helpers/eventually.ts'

const head = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, `Authorization: Bearer ${testKey}`, ...headers, '', ''].join('\r\n')
const host = 'Host: x'
const garbage = 'nonsense\r\n\r\n'

const start = async (t: Test) => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const open = async (allowHalfOpen = false): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen })
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  const send = async (request: string) => {
    const socket = await open()
    socket.write(request)
    return text(socket)
  }
  const countConnections = () =>
    new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)))
  return { context, open, send, countConnections }
}

/** Collects all that is received on a connection until it closes, for whatever reason. */
const collect = (socket: Socket) => {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  return { read: () => Buffer.concat(chunks).toString('latin1'), closed }
}

t.test('client error: writes nothing into a response that has begun', async (t) => {
  const { context, open } = await start(t)
  const image = Buffer.alloc(16 * 1024 * 1024, 7)
  context.answers.find = () => ({ ...completedCapture, fileSize: image.length })
  context.answers.object = () => image
  const socket = await open()
  const { read, closed } = collect(socket)
  // The rest of the response stays with the server, which cannot have sent all of it.
  socket.once('data', () => socket.pause())
  socket.write(head(`GET /v1/screenshots/${completedCapture.id}/image`, host, 'Range: bytes=0-'))
  await eventually(() => read().includes('206 Partial Content'))
  socket.write(garbage)
  socket.resume()
  await closed
  t.notOk(/BAD_REQUEST|400 Bad Request/.test(read()))
})

t.test('client error: does not respond to garbage while an earlier response is pending', async (t) => {
  const { context, open } = await start(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  t.teardown(resolve)
  context.answers.waiter = {
    waitForChange: () => promise,
    wake: () => {},
    prefetch: () => undefined,
    takeSlot: () => true,
    [Symbol.dispose]: () => {},
  }
  const socket = await open()
  const { read, closed } = collect(socket)
  socket.write(head('GET /v1/screenshots/capture?url=https%3A%2F%2Fexample.com', host))
  await eventually(() => context.calls.accepted.length === 1)
  socket.write(garbage)
  await closed
  t.equal(read(), '')
})

t.test('client error: sends no second response if the first was sent before the end of the body', async (t) => {
  const { open } = await start(t)
  const socket = await open()
  const { read, closed } = collect(socket)
  socket.write('POST /v1/screenshots HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  await eventually(() => read().includes('INVALID_API_KEY'))
  socket.write('no chunk\r\n')
  await closed
  t.equal(read().match(/HTTP\/1\.1/g)?.length, 1)
})

t.test('client error: responds to a broken body, and to garbage after a complete response', async (t) => {
  const { open, send } = await start(t)
  const broken = await send(`${head('POST /v1/screenshots', host, 'Transfer-Encoding: chunked')}no chunk\r\n`)
  t.match(broken, /^HTTP\/1\.1 400 .*"code":"BAD_REQUEST"/s)
  const socket = await open()
  const { read, closed } = collect(socket)
  socket.write(head(`GET /v1/screenshots/${pendingCapture.id}`, host))
  await eventually(() => read().endsWith('}'))
  socket.write(garbage)
  await closed
  t.match(read(), /^HTTP\/1\.1 200 .*HTTP\/1\.1 400 .*"code":"BAD_REQUEST"/s)
})

t.test('client error: errors of Node and of the framework have the envelope and its headers', async (t) => {
  const { context, send } = await start(t)
  const close = 'Connection: close'
  const status = `GET /v1/screenshots/${pendingCapture.id}`
  for (const [request, code, error] of [
    [head('QUERY /v1/screenshots', host, close), 405, 'METHOD_NOT_ALLOWED'],
    [head('QUERY /nowhere', host, close), 404, 'NOT_FOUND'],
    [head(status, close), 400, 'BAD_REQUEST'],
    [
      head(status, host, close, ...Array.from({ length: 3000 }, (_, n) => `x${n}: ${'1'.repeat(20)}`)),
      414,
      'URI_TOO_LONG',
    ],
  ] as const) {
    const answer = await send(request)
    t.match(answer, new RegExp(`^HTTP/1.1 ${code} .*"code":"${error}"`, 's'))
    t.match(answer, /access-control-allow-origin: \*/)
    t.match(answer, /x-request-id: [0-9a-f-]{36}/)
    t.match(answer, /x-content-type-options: nosniff/)
    t.match(answer, /strict-transport-security: max-age=31536000/)
  }
  context.answers.find = () => pendingCapture
  t.match(await send(head(status, host, close, 'Expect: foo')), /^HTTP\/1\.1 200 .*x-request-id/s)
  const many = Array.from({ length: 3000 }, (_, n) => `x${n}: 1`)
  t.match(
    await send(head(status, host, close, ...many)),
    /^HTTP\/1\.1 200 /,
    'the size of the headers counts, not their number',
  )
})

t.test('client error: destroys the connection, though its client closes not even its own side', async (t) => {
  const { open, countConnections } = await start(t)
  const sockets = [await open(true), await open(true)]
  const received = sockets.map(collect)
  sockets[0]?.write(garbage)
  sockets[1]?.write(head('POST /v1/screenshots', host, 'Transfer-Encoding: chunked') + 'no chunk\r\n')
  await eventually(() => received.every(({ read }) => read().includes('BAD_REQUEST')))
  await eventually(async () => (await countConnections()) === 0, { withinMs: 5000, what: 'they are destroyed' })
})

t.test('client error: batch is a path, never an id', async (t) => {
  const { context, send } = await start(t)
  for (const method of ['HEAD', 'PUT', 'DELETE', 'PROPFIND']) {
    for (const prefix of ['/v1', '/api/v1']) {
      const answer = await send(head(`${method} ${prefix}/screenshots/batch`, host, 'Connection: close'))
      t.match(answer, /^HTTP\/1\.1 405 [^]*\r\nallow: POST, GET, OPTIONS\r\n/, method)
    }
  }
  t.equal(context.calls.checks, 0)
})

t.test('client error: refuses a request with two Host headers, even equal ones, and one without', async (t) => {
  const { send } = await start(t)
  const last = 'Connection: close'
  const line = 'GET /v1/account'
  t.match(await send(head(line, host, last)), /^HTTP\/1.1 200 /)
  t.match(await send(head(line, host, 'host: other', last)), /^HTTP\/1.1 400 [^]*The Host header is repeated/)
  t.match(await send(head(line, host, host, last)), /^HTTP\/1.1 400 [^]*The Host header is repeated/)
  t.match(await send(head(line, last)), /^HTTP\/1.1 400 [^]*The Host header is missing/)
})

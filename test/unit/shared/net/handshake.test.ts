import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { handshake } from '#shared/net/handshake.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { freeze } from '#test/helpers/freeze.ts'

/** Both ends of one connection: the client's, and the proxy's. */
const startPair = async () => {
  const proxies = Promise.withResolvers<Socket>()
  const server = await listening(createServer({ allowHalfOpen: true }, proxies.resolve))
  const ours = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  ours.on('error', () => {})
  await once(ours, 'connect')
  return {
    ours,
    proxy: await proxies.promise,
    [Symbol.asyncDispose]: async () => {
      ours.destroy()
      await server[Symbol.asyncDispose]()
    },
  }
}

t.test('handshake: reads exactly the requested bytes in any chunks, and leaves the rest', async (t) => {
  await using pair = await startPair()
  await handshake(pair.ours, 10_000, async ({ write, read }) => {
    for (const piece of ['a', 'b', 'cd', 'efrest']) {
      write('go on')
      await once(pair.proxy, 'data')
      pair.proxy.write(piece)
    }
    t.equal(String(await read(3)), 'abc')
    t.equal(String(await read(3)), 'def')
  })
  pair.proxy.end(' and more')
  t.equal(await text(pair.ours), 'rest and more')
})

t.test('handshake: waits for late bytes within the timeout', async (t) => {
  await using pair = await startPair()
  const received = Promise.withResolvers<string>()
  const talking = handshake(pair.ours, 10_000, async ({ write, read }) => {
    write('asked')
    received.resolve(String(await read(2)))
  })
  pair.proxy.write('a')
  await once(pair.proxy, 'data')
  pair.proxy.write('b')
  await talking
  t.equal(await received.promise, 'ab')
})

t.test('handshake: bytes that arrived while this process was frozen are in time', async (t) => {
  await using pair = await startPair()
  const talking = handshake(pair.ours, 500, ({ read }) => read(1))
  pair.proxy.write('a')
  freeze(2200)
  t.equal(String(await talking), 'a')
})

t.test('handshake: fails and destroys the socket if the rest does not arrive', async (t) => {
  for (const [what, code, then] of [
    ['silence', 'TIMEOUT', () => {}],
    ['an end', 'CONNECTION_FAILED', (proxy: Socket) => proxy.end()],
    ['a reset', 'CONNECTION_FAILED', (proxy: Socket) => proxy.resetAndDestroy()],
  ] as const) {
    await using pair = await startPair()
    pair.proxy.write('a')
    const talking = handshake(pair.ours, code === 'TIMEOUT' ? 100 : 10_000, async ({ read }) => {
      await read(1)
      then(pair.proxy)
      await read(1)
    })
    await t.rejects(talking, { code }, what)
    t.ok(pair.ours.destroyed)
  }
})

t.test('handshake: fails with the error of the exchange', async (t) => {
  await using pair = await startPair()
  const fault = new Error('not understood')
  await t.rejects(
    handshake(pair.ours, 10_000, () => Promise.reject(fault)),
    fault,
  )
  t.ok(pair.ours.destroyed)
})

t.test('handshake: reads the head of an HTTP message in any chunks, and leaves the rest', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nX-Any: 1'
  for (const pieces of [[`${head}\r\n\r\nrest`], `${head}\r\n\r\nrest`.split(''), [`${head}\r\n`, '\r\nrest']]) {
    await using pair = await startPair()
    const reading = handshake(pair.ours, 10_000, ({ readHead }) => readHead())
    for (const piece of pieces) await new Promise((written) => void pair.proxy.write(piece, written))
    t.equal(await reading, head)
    pair.proxy.end(' and more')
    t.equal(await text(pair.ours), 'rest and more')
  }
})

t.test('handshake: rejects a head larger than 16 KiB, complete or not', async (t) => {
  for (const end of ['\r\n\r\n', '']) {
    await using pair = await startPair()
    pair.proxy.on('error', () => {})
    pair.proxy.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(16_384)}${end}`)
    const reading = handshake(pair.ours, 10_000, ({ readHead }) => readHead())
    await t.rejects(reading, { code: 'CONNECTION_FAILED', message: /too large/ })
    t.ok(pair.ours.destroyed)
  }
})

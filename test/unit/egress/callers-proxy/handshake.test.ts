import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { handshake } from '#egress/callers-proxy/handshake.ts'
import { listening } from '#test/helpers/egress-filter.ts'

/** Both ends of one connection: ours, and the proxy's. */
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

t.test('hears exactly what it asks for, in whatever pieces it comes, and leaves the rest', async (t) => {
  await using pair = await startPair()
  await handshake(pair.ours, 10_000, async ({ say, hear }) => {
    for (const piece of ['a', 'b', 'cd', 'efrest']) {
      say('go on')
      await once(pair.proxy, 'data')
      pair.proxy.write(piece)
    }
    t.equal(String(await hear(3)), 'abc')
    t.equal(String(await hear(3)), 'def')
  })
  pair.proxy.end(' and more')
  t.equal(await text(pair.ours), 'rest and more')
})

t.test('waits for what is late within the wait', async (t) => {
  await using pair = await startPair()
  const heard = Promise.withResolvers<string>()
  const talking = handshake(pair.ours, 10_000, async ({ say, hear }) => {
    say('asked')
    heard.resolve(String(await hear(2)))
  })
  pair.proxy.write('a')
  await once(pair.proxy, 'data')
  pair.proxy.write('b')
  await talking
  t.equal(await heard.promise, 'ab')
})

t.test('fails and destroys the socket where the rest does not come', async (t) => {
  for (const [what, code, then] of [
    ['silence', 'TIMEOUT', () => {}],
    ['an end', 'CONNECTION_FAILED', (proxy: Socket) => proxy.end()],
    ['a reset', 'CONNECTION_FAILED', (proxy: Socket) => proxy.resetAndDestroy()],
  ] as const) {
    await using pair = await startPair()
    pair.proxy.write('a')
    const talking = handshake(pair.ours, code === 'TIMEOUT' ? 100 : 10_000, async ({ hear }) => {
      await hear(1)
      then(pair.proxy)
      await hear(1)
    })
    await t.rejects(talking, { code }, what)
    t.ok(pair.ours.destroyed)
  }
})

t.test('fails with what the talk throws', async (t) => {
  await using pair = await startPair()
  const fault = new Error('not understood')
  await t.rejects(
    handshake(pair.ours, 10_000, () => Promise.reject(fault)),
    fault,
  )
  t.ok(pair.ours.destroyed)
})

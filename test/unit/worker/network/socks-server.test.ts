import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import t from 'tap'
import { listening } from '#test/helpers/egress-filter.ts'
import { socksGreeting, socksRequest } from '#test/helpers/socks-client.ts'
import { readSocksRequest, socksReply } from '#worker/network/socks-server.ts'

/** Both ends of a connection. */
const openPair = async () => {
  const server = createServer()
  const running = await listening(server)
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const client = connect({ port: running.port, host: '127.0.0.1' })
  client.on('error', () => {})
  const [served] = await accepted
  return { client, served, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() }
}

t.test('SOCKS: reads the host as the browser writes it, in any chunks', async (t) => {
  for (const host of ['Page.test.', '127.0.0.1', '2606:4700::1', 'x'.repeat(255)]) {
    const whole = Buffer.concat([socksGreeting, socksRequest(host, 8443)])
    for (const pieces of [[whole], [...whole].map((byte) => Buffer.of(byte))]) {
      await using pair = await openPair()
      const requested = readSocksRequest(pair.served)
      for (const piece of pieces) await new Promise((written) => void pair.client.write(piece, written))
      t.same(await requested, { host, port: 8443 })
      t.same((await once(pair.client, 'data'))[0], Buffer.of(5, 0))
    }
  }
})

t.test('SOCKS: closes on anything but a CONNECT with the host as text', async (t) => {
  const request = socksRequest('a.test', 80)
  const hostile = {
    SOCKS4: Buffer.from([4, 1, 0, 80, 1, 2, 3, 4, 0]),
    HTTP: Buffer.from('CONNECT a.test:80 HTTP/1.1\r\n\r\n'),
    'no method': Buffer.of(5, 0),
    'passwords alone': Buffer.of(5, 1, 2),
    BIND: Buffer.concat([socksGreeting, Buffer.of(5, 2), request.subarray(2)]),
    'an IPv4 address': Buffer.concat([socksGreeting, Buffer.of(5, 1, 0, 1, 1, 2, 3, 4, 0, 80)]),
    'no host': Buffer.concat([socksGreeting, socksRequest('', 80)]),
    'a line of its own': Buffer.concat([socksGreeting, socksRequest('a.test:80 HTTP/1.1\r\nX-Forged: 1', 80)]),
    'a space': Buffer.concat([socksGreeting, socksRequest('a test', 80)]),
    'a byte that is no text': Buffer.concat([socksGreeting, socksRequest('a\xff', 80)]),
  }
  for (const [what, bytes] of Object.entries(hostile)) {
    await using pair = await openPair()
    pair.client.write(bytes)
    await t.rejects(readSocksRequest(pair.served), { code: 'BAD_REQUEST' }, what)
    t.ok(pair.served.destroyed, what)
  }
})

t.test('SOCKS: the read fails if the client disconnects early', async (t) => {
  await using pair = await openPair()
  pair.client.end(socksGreeting)
  await t.rejects(readSocksRequest(pair.served), { code: 'CONNECTION_FAILED' })
})

t.test('SOCKS: replies follow RFC 1928', async (t) => {
  t.same(socksReply('succeeded'), Buffer.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0))
  t.equal(socksReply('notAllowed')[1], 2)
  t.equal(socksReply('hostUnreachable')[1], 4)
})

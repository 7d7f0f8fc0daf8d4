import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { parseCallersProxy } from '#shared/net/callers-proxy.ts'
import type { Refusal } from '#shared/net/refusal.ts'
import { listening, createResolver, targetRules, startCanary, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { connectBySocks } from '#test/helpers/socks-client.ts'
import { createRelay } from '#worker/network/relay.ts'

const egressToken = 'a-token-of-sixteen'
const capture = { id: 'capture-1', proxy: undefined, targets: undefined }

type Overrides = {
  bytesMax?: number
  connectionsMax?: number
  review?: (host: string, refusal?: Refusal) => Promise<boolean>
}

/** A relay to an egress on `egressPort`, and the calls to its callbacks. */
const startRelay = async (egressPort: number, { bytesMax = 1e6, connectionsMax = 10, review }: Overrides = {}) => {
  const calls: unknown[] = []
  const server = createServer()
  const running = await listening(server)
  const upstream = { egress: { host: '127.0.0.1', port: egressPort }, egressToken, bytesMax, connectionsMax }
  const relay = createRelay(server, upstream, {
    review: async (host, refusal) => {
      calls.push(refusal === undefined ? host : [host, refusal])
      return review === undefined || review(host, refusal)
    },
    recordByteLimit: async () => void calls.push('byte limit exceeded'),
  })
  return { ...running, server, calls, begin: relay.begin }
}

const countConnections = (server: Server) =>
  new Promise<number>((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })

/** An egress that responds to anything with `response`, and records the heads of requests. */
const startEgress = async (response: string | null) => {
  const heads: string[] = []
  const server = createServer((socket) => {
    socket.once('data', (head) => {
      heads.push(String(head))
      if (response === null) socket.destroy()
      else socket.write(response)
    })
  })
  return { ...(await listening(server)), heads }
}
const established = 'HTTP/1.1 200 Connection established\r\n\r\n'

/** Responds with `received …` once its client has sent everything. */
const startPeer = () =>
  listening(
    createServer({ allowHalfOpen: true }, async (socket) => {
      socket.end(`received ${await text(socket).catch(() => '')}`)
    }),
  )

t.test(
  'relay: connects a browser to its target through egress, and propagates half-close in both directions',
  async (t) => {
    await using peer = await startPeer()
    const resolver = createResolver({ 'page.test': { A: ['127.0.0.1'] } })
    await using filter = await startFilter({ rules: targetRules('127.0.0.1 [::1]'), resolver, tokens: [egressToken] })
    await using relay = await startRelay(filter.port)
    using _traffic = relay.begin(capture)
    for (const host of ['page.test', '127.0.0.1']) {
      const { socket, reply } = await connectBySocks(relay.port, host, peer.port)
      t.equal(reply, 0)
      socket.end('all')
      t.equal(await text(socket), 'received all')
    }
    t.match(filter.events.find(({ name }) => name === 'opened')?.args, [{ kind: 'tunnel', capture: 'capture-1' }])
  },
)

t.test(
  "relay: sends capture, token and caller's proxy; the browser cannot inject headers into the CONNECT request",
  async (t) => {
    await using egress = await startEgress(established)
    await using relay = await startRelay(egress.port)
    using _traffic = relay.begin({ ...capture, id: 'capture-2', proxy: 'socks5://üser:p%3Aw@proxy.test:1080' })
    for (const [host, authority] of [
      ['page.test', 'page.test:443'],
      ['2606:4700::1', '[2606:4700::1]:443'],
    ] as const) {
      const { socket, reply } = await connectBySocks(relay.port, host, 443)
      t.equal(reply, 0)
      socket.destroy()
      const [line, ...headers] = egress.heads.pop()?.split('\r\n') ?? []
      t.equal(line, `CONNECT ${authority} HTTP/1.1`)
      const proxy = headers[3]?.replace('x-shutterfleet-proxy: ', '') ?? ''
      const credentials = { user: 'üser', password: 'p:w' }
      t.same(parseCallersProxy(proxy), { kind: 'socks5', host: 'proxy.test', port: 1080, credentials })
      const expected = [
        `Host: ${authority}`,
        'x-shutterfleet-capture: capture-2',
        `Proxy-Authorization: Bearer ${egressToken}`,
      ]
      t.same(headers.toSpliced(3, 1), [...expected, '', ''])
    }
    const forged = 'a.test:80 HTTP/1.1\r\nx-shutterfleet-capture: forged\r\nX: '
    t.equal((await connectBySocks(relay.port, forged, 443)).reply, undefined)
    t.same(egress.heads, [])
  },
)

t.test('relay: reports a refusal before it replies to the browser', async (t) => {
  const refusalRecorded = Promise.withResolvers<boolean>()
  await using filter = await startFilter({ tokens: [egressToken] })
  const overrides: Overrides = {
    review: async (_host, refusal) => (refusal === undefined ? true : refusalRecorded.promise),
  }
  await using relay = await startRelay(filter.port, overrides)
  using _traffic = relay.begin(capture)
  let isReplied = false
  const connecting = connectBySocks(relay.port, '10.0.0.1', 80).finally(() => {
    isReplied = true
  })
  await eventually(() => relay.calls.length === 2)
  t.notOk(isReplied)
  refusalRecorded.resolve(true)
  t.equal((await connecting).reply, 2)
  t.same(relay.calls, ['10.0.0.1', ['10.0.0.1', 'blocked']])
})

t.test("relay: names the account's lists to egress, and uses no tunnel unless egress applied them", async (t) => {
  const targets = { allow: [], deny: ['ads.test'] }
  await using older = await startEgress(established)
  await using relay = await startRelay(older.port)
  using traffic = relay.begin({ ...capture, targets })
  t.not((await connectBySocks(relay.port, 'page.test', 443)).reply, 0)
  t.match(older.heads, [/\r\nx-shutterfleet-targets: \{"allow":\[\],"deny":\["ads\.test"\]\}\r\n/])
  t.same(relay.calls, ['page.test', ['page.test', 'unavailable']])
  traffic[Symbol.dispose]()
  await using filter = await startFilter({ rules: targetRules('127.0.0.1'), tokens: [egressToken] })
  await using peer = await startPeer()
  await using current = await startRelay(filter.port)
  using _own = current.begin({ ...capture, targets: { allow: [], deny: ['127.0.0.2'] } })
  t.equal((await connectBySocks(current.port, '127.0.0.1', peer.port)).reply, 0)
  t.equal((await connectBySocks(current.port, '127.0.0.2', peer.port)).reply, 2, 'not allowed')
})

t.test('relay: reports why egress refused a connection, with the host as in URLs', async (t) => {
  await using filter = await startFilter({ tokens: [egressToken] })
  await using relay = await startRelay(filter.port)
  using _traffic = relay.begin(capture)
  t.equal((await connectBySocks(relay.port, 'Nowhere.test.', 80)).reply, 4)
  t.equal((await connectBySocks(relay.port, '::1', 80)).reply, 2)
  t.equal((await connectBySocks(relay.port, 'a@b.test', 80)).reply, 4)
  t.same(relay.calls, [
    'Nowhere.test.',
    ['Nowhere.test.', 'dns_failed'],
    '[::1]',
    ['[::1]', 'blocked'],
    'a@b.test',
    ['a@b.test', 'bad_request'],
  ])
})

t.test('relay: an unreachable egress, a closed connection or an invalid response is an internal failure', async (t) => {
  const gone = await startCanary()
  await gone[Symbol.asyncDispose]()
  await using mute = await startEgress(null)
  await using stranger = await startEgress('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
  await using broken = await startEgress('HTTP/1.1 503 x\r\nx-shutterfleet-refusal: unavailable\r\n\r\n')
  await using other = await startEgress('SSH-2.0-OpenSSH_9.2\r\n\r\n')
  await using endless = await startEgress(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}`)
  for (const { port } of [gone, mute, stranger, broken, other, endless]) {
    await using relay = await startRelay(port)
    using _traffic = relay.begin(capture)
    t.not((await connectBySocks(relay.port, 'page.test', 443)).reply, 0)
    t.same(relay.calls, ['page.test', ['page.test', 'unavailable']])
  }
})

t.test('relay: rejects a host blocked by the capture without egress, and reports no refusal', async (t) => {
  await using egress = await startEgress(established)
  await using relay = await startRelay(egress.port, { review: async (host) => host !== 'ads.test' })
  using _traffic = relay.begin(capture)
  t.equal((await connectBySocks(relay.port, 'ads.test', 443)).reply, 2)
  t.equal((await connectBySocks(relay.port, 'page.test', 443)).reply, 0)
  t.equal(egress.heads.length, 1)
  t.same(relay.calls, ['ads.test', 'page.test'])
})

t.test('relay: a browser that disconnects while egress connects leaves nothing open, and is no failure', async (t) => {
  const sockets: Socket[] = []
  await using egress = await listening(createServer((socket) => void sockets.push(socket.resume())))
  await using relay = await startRelay(egress.port)
  using _traffic = relay.begin(capture)
  const connecting = connectBySocks(relay.port, 'page.test', 443)
  await eventually(() => sockets.length === 1)
  relay.begin(capture)[Symbol.dispose]()
  _traffic[Symbol.dispose]()
  t.equal((await connecting).reply, undefined)
  await eventually(() => sockets[0]?.destroyed === true)
  t.same(relay.calls, ['page.test'])
})

t.test('relay: rejects connections between captures, and closes those a capture leaves open', async (t) => {
  await using egress = await startEgress(established)
  await using relay = await startRelay(egress.port)
  t.equal((await connectBySocks(relay.port, 'page.test', 443)).reply, undefined)
  const traffic = relay.begin(capture)
  const { socket, reply } = await connectBySocks(relay.port, 'page.test', 443)
  t.equal(reply, 0)
  traffic[Symbol.dispose]()
  await once(socket.resume(), 'close')
  t.equal((await connectBySocks(relay.port, 'page.test', 443)).reply, undefined)
  t.equal(egress.heads.length, 1)
})

t.test('relay: closes connections above the total of a capture; the next has its own total', async (t) => {
  await using egress = await startEgress(established)
  await using relay = await startRelay(egress.port, { connectionsMax: 2 })
  for (const id of ['one', 'two']) {
    using _traffic = relay.begin({ ...capture, id })
    const replies: unknown[] = []
    for (let count = 0; count < 3; count += 1) replies.push((await connectBySocks(relay.port, 'a.test', 443)).reply)
    t.same(replies, [0, 0, undefined])
  }
})

t.test('relay: a capture has 64 connections at a time; further ones wait for one to close', async (t) => {
  await using peer = await listening(createServer((socket) => void socket.resume()))
  await using filter = await startFilter({ rules: targetRules('127.0.0.1'), tokens: [egressToken], connectionsMax: 64 })
  await using relay = await startRelay(filter.port, { connectionsMax: 100 })
  using _traffic = relay.begin(capture)
  const open = await Promise.all(Array.from({ length: 64 }, () => connectBySocks(relay.port, '127.0.0.1', peer.port)))
  t.ok(open.every(({ reply }) => reply === 0))
  let served = 0
  const waiting = Array.from({ length: 2 }, () =>
    connectBySocks(relay.port, '127.0.0.1', peer.port).then(({ reply }) => (served += reply === 0 ? 1 : 0)),
  )
  await eventually(async () => (await countConnections(relay.server)) === 66)
  t.equal(served, 0)
  for (const { socket } of open.slice(0, 2)) socket.destroy()
  await Promise.all(waiting)
  t.equal(served, 2)
  t.same(relay.calls, ['127.0.0.1'], 'no refusal')
})

t.test('relay: a connection waits while egress is overloaded', async (t) => {
  await using peer = await startPeer()
  await using filter = await startFilter({ rules: targetRules('127.0.0.1'), tokens: [egressToken], connectionsMax: 1 })
  await using relay = await startRelay(filter.port)
  using _traffic = relay.begin(capture)
  const other = connect({ port: filter.port, host: '127.0.0.1' })
  await once(other, 'connect')
  const connecting = connectBySocks(relay.port, '127.0.0.1', peer.port)
  await eventually(() => filter.events.some(({ name }) => name === 'overloaded'))
  other.destroy()
  t.equal((await connecting).reply, 0)
  t.same(relay.calls, ['127.0.0.1'], 'no refusal')
})

t.test('relay: a tunnel that breaks on the way to egress is an internal failure', async (t) => {
  const sockets: Socket[] = []
  await using egress = await listening(
    createServer((socket) => {
      sockets.push(socket)
      socket.once('data', () => socket.write(established))
    }),
  )
  await using relay = await startRelay(egress.port)
  using _traffic = relay.begin(capture)
  const { socket } = await connectBySocks(relay.port, 'page.test', 80)
  sockets[0]?.resetAndDestroy()
  await once(socket.resume(), 'close')
  t.same(relay.calls, ['page.test', ['page.test', 'unavailable']])
})

t.test('relay: a target that closes or resets, also during an upload, is no internal failure', async (t) => {
  const upload = Buffer.alloc(64_000_000)
  for (const hangUp of [(socket: Socket) => socket.resetAndDestroy(), (socket: Socket) => socket.end()]) {
    await using peer = await listening(createServer((socket) => void socket.once('data', () => hangUp(socket))))
    await using filter = await startFilter({
      rules: targetRules('127.0.0.1'),
      tokens: [egressToken],
      connectionBytesMax: 1e9,
    })
    await using relay = await startRelay(filter.port, { bytesMax: 1e9 })
    using _traffic = relay.begin(capture)
    const { socket } = await connectBySocks(relay.port, '127.0.0.1', peer.port)
    const closed = once(socket, 'close')
    socket.write(upload)
    await once(socket.resume(), 'end')
    socket.end()
    await eventually(() => filter.events.some(({ name }) => name === 'ended'))
    await closed
    t.same(relay.calls, ['127.0.0.1'])
  }
})

t.test('relay: counts bytes of both directions, and closes all connections above the maximum', async (t) => {
  const flood = Buffer.alloc(2000)
  await using sink = await listening(createServer((socket) => void socket.resume()))
  await using source = await listening(createServer((socket) => void socket.write(flood)))
  await using filter = await startFilter({ rules: targetRules('127.0.0.1'), tokens: [egressToken] })
  for (const { port } of [sink, source]) {
    await using relay = await startRelay(filter.port, { bytesMax: 1000 })
    using _traffic = relay.begin(capture)
    const other = await connectBySocks(relay.port, '127.0.0.1', sink.port)
    const { socket } = await connectBySocks(relay.port, '127.0.0.1', port)
    if (port === sink.port) socket.write(flood)
    socket.resume()
    await once(other.socket.resume(), 'close')
    t.same(relay.calls, ['127.0.0.1', 'byte limit exceeded'])
    t.equal((await connectBySocks(relay.port, '127.0.0.1', sink.port)).reply, undefined, 'no refusal from here on')
  }
})

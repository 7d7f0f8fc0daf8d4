import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { parseCallersProxy, proxyHeader } from '#shared/net/callers-proxy.ts'
import { captureHeader, refusalHeader } from '#shared/net/refusal.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { askProxy } from '#test/helpers/proxy-client.ts'
import { createForwarder } from '#worker/browser-host/forwarder.ts'

const folder = await mkdtemp(join(tmpdir(), 'forwarder-'))
const captures: (string | undefined)[] = []
const proxies: (string | undefined)[] = []
const note = ({ headers }: IncomingMessage) => {
  captures.push(headers[captureHeader]?.toString())
  proxies.push(headers[proxyHeader]?.toString())
}
const waiting = Promise.withResolvers<void>()
const egress = createServer((request, response) => {
  note(request)
  if (request.url?.includes('gone')) request.socket.destroy()
  else if (request.url?.includes('waits')) waiting.resolve()
  else if (request.url?.includes('broken')) response.writeHead(503, { [refusalHeader]: 'unavailable' }).end()
  else if (request.url?.includes('refused')) response.writeHead(403, { [refusalHeader]: 'blocked' }).end('never a page')
  else response.end('page')
})
egress.on('connect', (request, socket) => {
  note(request)
  if (request.url?.includes('gone')) socket.destroy()
  else if (request.url?.includes('broken')) socket.end(`HTTP/1.1 503 x\r\n${refusalHeader}: unavailable\r\n\r\n`)
  else if (request.url?.includes('stranger')) socket.end('HTTP/1.1 407 x\r\n\r\n')
  else if (request.url?.includes('refused')) socket.end(`HTTP/1.1 502 x\r\n${refusalHeader}: dns_failed\r\n\r\n`)
  else if (request.url?.includes('open')) socket.write('HTTP/1.1 200 OK\r\n\r\n')
  else socket.end('HTTP/1.1 200 OK\r\n\r\nthrough')
})
let connections = 0
egress.on('connection', (socket) => {
  connections += 1
  socket.on('error', () => {})
  socket.once('close', () => {
    connections -= 1
  })
})
egress.listen(join(folder, 'egress'))
await once(egress, 'listening')
const { server, begin } = createForwarder(join(folder, 'egress'), { bytesMax: 1000, connectionsMax: 10 })
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
t.teardown(async () => {
  server.close()
  egress.close()
  egress.closeAllConnections()
  await rm(folder, { recursive: true, force: true })
})

const ask = (line: string, headers: readonly string[] = []) => askProxy({ port, line, headers })
const beginDirect = (id: string, online = true) => begin({ id, online, proxy: undefined })
/** A page can set any header of its own requests. */
const forged = [`${proxyHeader}: http://evil.test:1`, `${captureHeader}: forged`]

t.test('passes requests and tunnels of a capture, and names it', async (t) => {
  using _traffic = beginDirect('capture-1')
  captures.length = 0
  t.match(await ask('GET http://fine.test/'), { status: 200, body: 'page' })
  const { status, socket } = await ask('CONNECT fine.test:443')
  socket.destroy()
  t.equal(status, 200)
  t.strictSame(captures, ['capture-1', 'capture-1'])
})

t.test('hangs up on a refused request, so that no refusal becomes a page, and remembers the reason', async (t) => {
  using traffic = beginDirect('capture-2')
  t.match(await ask('GET http://refused.test/x'), { status: 0, body: '' })
  t.equal(traffic.refusalOf('refused.test'), 'blocked')
})

t.test('fails a refused tunnel and remembers the reason', async (t) => {
  using traffic = beginDirect('capture-3')
  t.match(await ask('CONNECT refused.test:443'), { status: 502, body: '' })
  t.equal(traffic.refusalOf('refused.test'), 'dns_failed')
})

t.test('lets nothing through between captures, nor for one that is not online', async (t) => {
  captures.length = 0
  t.equal((await ask('GET http://fine.test/')).status, 0)
  t.equal((await ask('CONNECT fine.test:443')).status, 0)
  using _traffic = beginDirect('warm-up', false)
  t.equal((await ask('GET http://fine.test/')).status, 0)
  t.strictSame(captures, [])
})

t.test("names the caller's proxy to egress, and nothing of the page's own stands for it", async (t) => {
  const proxy = 'socks5://üser:p%3Aw@proxy.test:1080'
  using _traffic = begin({ id: 'capture-4', online: true, proxy })
  captures.length = 0
  proxies.length = 0
  await ask('GET http://fine.test/', forged)
  ;(await ask('CONNECT fine.test:443', forged)).socket.destroy()
  t.strictSame(captures, ['capture-4', 'capture-4'])
  t.equal(proxies.length, 2)
  for (const value of proxies) {
    const credentials = { user: 'üser', password: 'p:w' }
    t.same(parseCallersProxy(value ?? ''), { kind: 'socks5', host: 'proxy.test', port: 1080, credentials })
  }
})

t.test('a page without a proxy cannot choose one', async (t) => {
  using _traffic = beginDirect('capture-5')
  captures.length = 0
  proxies.length = 0
  await ask('GET http://fine.test/', forged)
  ;(await ask('CONNECT fine.test:443', forged)).socket.destroy()
  t.strictSame(captures, ['capture-5', 'capture-5'])
  t.strictSame(proxies, [undefined, undefined])
})

t.test(
  'what egress does not answer, or fails by itself, interrupts the capture and never becomes a page',
  async (t) => {
    const lines = [
      'GET http://gone.test/',
      'CONNECT gone.test:443',
      'GET http://broken.test/',
      'CONNECT broken.test:443',
    ]
    for (const line of [...lines, 'CONNECT stranger.test:443']) {
      using traffic = beginDirect('capture-6')
      t.not((await ask(line)).status, 200, line)
      t.type(traffic.interruption(), 'string', line)
      await t.rejects(traffic.cutShort, { code: 'SERVICE_UNAVAILABLE' }, line)
      for (const host of ['gone.test', 'broken.test', 'stranger.test'])
        t.equal(traffic.refusalOf(host), undefined, 'nothing is said of the target')
    }
  },
)

t.test('a refusal of the target interrupts nothing, nor does a browser that waits no longer', async (t) => {
  using traffic = beginDirect('capture-7')
  await ask('GET http://refused.test/x')
  ;(await ask('CONNECT refused.test:443')).socket.destroy()
  const before = connections
  const client = connect({ port, host: '127.0.0.1' })
  client.write('GET http://waits.test/ HTTP/1.1\r\nHost: a\r\n\r\n')
  await waiting.promise
  client.destroy()
  await eventually(() => connections <= before)
  t.equal(traffic.interruption(), undefined)
})

t.test('a way that leads nowhere interrupts the capture', async (t) => {
  const lost = createForwarder(join(folder, 'nobody'), { bytesMax: 1000, connectionsMax: 10 })
  lost.server.listen(0, '127.0.0.1')
  await once(lost.server, 'listening')
  t.teardown(() => lost.server.close())
  for (const line of ['GET http://fine.test/', 'CONNECT fine.test:443']) {
    using traffic = lost.begin({ id: 'capture-8', online: true, proxy: undefined })
    await askProxy({ port: (lost.server.address() as AddressInfo).port, line })
    t.match(traffic.interruption(), /no answer of egress/, line)
  }
})

t.test('forwarder: uploads count like downloads, in a request, in a tunnel and right behind a CONNECT', async (t) => {
  const upload = 'x'.repeat(2000)
  const headers = [`Content-Length: ${upload.length}`]
  const ways = {
    request: () => askProxy({ port, line: 'POST http://fine.test/', headers, body: upload }),
    early: () => askProxy({ port, line: 'CONNECT fine.test:443', early: upload }),
    tunnel: async () => {
      const { socket } = await ask('CONNECT open.test:443')
      socket.write(upload)
    },
  }
  for (const [way, send] of Object.entries(ways)) {
    using traffic = beginDirect(`upload by ${way}`)
    void send()
    await t.rejects(traffic.cutShort, { code: 'RENDER_ERROR' }, way)
  }
})

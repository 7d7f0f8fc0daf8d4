import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import t from 'tap'
import type { CaptureParameters } from '#shared/capture/options.ts'
import { captureWith, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'
import { listening } from '#test/helpers/egress-filter.ts'

const images = 12
const page = `<body>${Array.from({ length: images }, (_, n) => `<img src="/image-${n}.svg">`).join('')}<script>
  const socket = new WebSocket('ws://' + location.host + '/socket')
  socket.onmessage = ({ data }) => { document.body.id = data }
</script>`
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'

/** A page with images and a WebSocket that sends `settled`; counts its connections. */
const startPage = async (host: string) => {
  let connections = 0
  const server = createServer((request, response) => {
    const isImage = request.url?.startsWith('/image') === true
    response.setHeader('content-type', isImage ? 'image/svg+xml' : 'text/html').end(isImage ? svg : page)
  })
  server.on('connection', () => (connections += 1))
  server.on('upgrade', ({ headers }, socket) => {
    const key = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade']
    socket.on('error', () => {})
    socket.write(`${[...lines, `Sec-WebSocket-Accept: ${key.digest('base64')}`].join('\r\n')}\r\n\r\n`)
    socket.write(Buffer.concat([Buffer.of(0x81, 7), Buffer.from('settled')]))
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

t.test(
  'network: a page of one site uses at most eight connections, and its WebSocket works, by name and by address',
  async (t) => {
    for (const [listen, host] of [
      ['127.0.0.1', 'only-egress-knows.test'],
      ['::1', '[::1]'],
    ] as const) {
      await using site = await startPage(listen)
      const names = { 'only-egress-knows.test': { A: ['127.0.0.1'] } }
      const allow = host === '[::1]' ? `[::1]:${site.port}` : `127.0.0.1:${site.port}`
      await using egress = await startTestEgress(allow, names)
      await using browser = await startTestHost(egress)
      const parameters: CaptureParameters = { url: `http://${host}:${site.port}/`, wait_for_selector: '#settled' }
      for (let captures = 1; captures <= 2; captures += 1) {
        const before = site.connections()
        t.match(await captureWith(browser, { ...parameters, timeout: 15 }), {
          outcome: 'completed',
          shot: { warnings: [] },
        })
        const needed = site.connections() - before
        t.ok(needed >= 2 && needed <= 8, `${needed} connections for ${images + 2} requests of a fresh context`)
      }
    }
  },
)

t.test(
  'network: a connection that closes, resets or is no HTTP before the response is CONNECTION_FAILED',
  async (t) => {
    await using ending = await listening(createTcpServer((socket) => socket.once('data', () => socket.end())))
    await using resetting = await listening(
      createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
    )
    await using talking = await listening(createTcpServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n')))
    await using egress = await startTestEgress('127.0.0.1')
    await using browser = await startTestHost(egress)
    for (const { port } of [ending, resetting, talking]) {
      for (const scheme of ['http', 'https']) {
        const outcome = await captureWith(browser, { url: `${scheme}://127.0.0.1:${port}/`, timeout: 15 })
        t.match(outcome, { outcome: 'failed', code: 'CONNECTION_FAILED' }, scheme)
      }
    }
  },
)

t.test('network: a capture opens no more than its maximum of connections, and is not interrupted by it', async (t) => {
  await using site = await startPage('127.0.0.1')
  await using egress = await startTestEgress(`127.0.0.1:${site.port}`)
  await using browser = await startTestHost(egress, { connectionsMax: 2 })
  const outcome = await captureWith(browser, { url: `http://127.0.0.1:${site.port}/`, timeout: 15 })
  t.not(outcome.outcome, 'interrupted')
  t.ok(site.connections() <= 2)
})

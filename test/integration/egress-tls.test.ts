import { once } from 'node:events'
import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createSecureContext, createServer as createTlsServer } from 'node:tls'
import t from 'tap'
import { makeSelfSigned } from '#cli/cluster/self-signed.ts'
import { checkEgress, requestConnect } from '#shared/net/check-egress.ts'
import { openEgressTrust } from '#shared/net/egress-trust.ts'
import { refusalHeader } from '#shared/net/refusal.ts'
import { browserUsers, captureWith, startPages, startTestHost } from '#test/helpers/browser-host.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { type EgressProcess, startEgressProcess } from '#test/helpers/egress-process.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { askProxy } from '#test/helpers/proxy-client.ts'
import { connectBySocks } from '#test/helpers/socks-client.ts'
import { connectReceiver } from '#webhooks/connect-receiver.ts'
import { createRelay } from '#worker/network/relay.ts'

const dayMs = 86_400_000
const token = 'token-of-sixteen'
const certify = (untilMs = Date.now() + dayMs) => makeSelfSigned(['localhost'], Date.now() - 2 * dayMs, untilMs)
const unexpected = (cause: unknown) => t.fail(String(cause))

/** A folder with a certificate, its key, what clients trust, and place for a browser host. */
const makeFiles = async ({ certificate, key } = certify(), trusted = certificate) => {
  const folder = await mkdtemp(join(tmpdir(), 'egress-tls-'))
  const files = { ca: join(folder, 'ca.crt'), certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key') }
  await writeFile(files.ca, trusted)
  await writeFile(files.certificate, certificate)
  await writeFile(files.key, key)
  if (browserUsers) await chmod(folder, 0o711)
  return { ...files, folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}
type Files = Awaited<ReturnType<typeof makeFiles>>

/** Replaces a file as a kubelet does: a reader never gets half of it. */
const replace = async (path: string, content: string) => {
  await writeFile(`${path}.new`, content)
  await rename(`${path}.new`, path)
}

const startTlsEgress = async ({ certificate, key }: Files, settings: Readonly<Record<string, string>> = {}) => {
  const process = startEgressProcess({
    SHUTTERFLEET_EGRESS_TOKENS: token,
    SHUTTERFLEET_EGRESS_CERTIFICATE_FILE: certificate,
    SHUTTERFLEET_EGRESS_KEY_FILE: key,
    ...settings,
  })
  const { egress = '', probeUrl = '' } = await process.announced
  const metrics = async () => (await fetch(`${probeUrl}/metrics`)).text()
  return { ...process, url: egress, at: { host: 'localhost', port: Number(new URL(egress).port) }, metrics }
}

const printedBy = async ({ child, printed }: Pick<EgressProcess, 'child' | 'printed'>) => {
  child.kill('SIGTERM')
  return (await printed)[1]
}

const notAfterOf = (metrics: string) =>
  Number(/certificate_not_after_seconds\{name="egress",component="egress"\} (\d+)/.exec(metrics)?.[1])

t.test('egress TLS: a worker captures through it, and half-closed connections pass both ways', async (t) => {
  await using pages = await startPages()
  await using peer = await listening(
    createServer({ allowHalfOpen: true }, async (socket) => void socket.end(`received ${await text(socket)}`)),
  )
  await using files = await makeFiles()
  using egress = await startTlsEgress(files, { SHUTTERFLEET_ALLOW_TARGETS: '127.0.0.1' })
  t.match(egress.url, /^https:/)
  using trust = await openEgressTrust(files.ca, unexpected)
  const endpoint = { egress: { ...egress.at, trust }, egressToken: token }
  await using host = await startTestHost({ ...endpoint, folder: files.folder })
  t.match(await captureWith(host, { url: `${pages.url}/` }), { outcome: 'completed' })

  const server = createServer()
  await using running = await listening(server)
  const bounds = { bytesMax: 1e9, connectionsMax: 100 }
  const relay = createRelay(
    server,
    { ...endpoint, ...bounds },
    {
      review: async () => true,
      recordByteLimit: async () => {},
    },
  )
  using _traffic = relay.begin({ id: 'capture-1', proxy: undefined, targets: undefined })
  // Larger than all buffers between, and resumed sessions from the second one on.
  for (const sent of ['all', 'x'.repeat(4_000_000)]) {
    const { socket, reply } = await connectBySocks(running.port, '127.0.0.1', peer.port)
    t.equal(reply, 0)
    socket.end(sent)
    t.ok((await text(socket)) === `received ${sent}`)
  }
})

t.test('egress TLS: the sender of webhooks reaches its receivers through it, by TLS inside of TLS', async (t) => {
  const { certificate: cert, key } = certify()
  await using receiver = await listening(createTlsServer({ cert, key }, (socket) => void socket.pipe(socket)))
  await using files = await makeFiles()
  using egress = await startTlsEgress(files, { SHUTTERFLEET_ALLOW_TARGETS: `localhost:${receiver.port}` })
  using trust = await openEgressTrust(files.ca, unexpected)
  const route = { egressToken: token, trust: createSecureContext({ ca: cert }), connectMs: 10_000 }
  const to = { host: 'localhost', port: receiver.port }
  const socket = await connectReceiver({ ...route, egress: { ...egress.at, trust } }, to)
  const sent = 'x'.repeat(1_000_000)
  socket.end(sent)
  t.ok((await text(socket)) === sent)
  await t.rejects(connectReceiver({ ...route, egress: egress.at }, to), { message: 'not_tried' })
})

t.test('egress TLS: clients in clear and clients of another authority or name get nothing', async (t) => {
  await using files = await makeFiles()
  using egress = await startTlsEgress(files)
  using trust = await openEgressTrust(files.ca, unexpected)
  await using others = await makeFiles()
  using stranger = await openEgressTrust(others.ca, unexpected)
  await checkEgress({ ...egress.at, trust }, token)
  await t.rejects(checkEgress({ ...egress.at, trust }, 'a-wrong-token-of-20'), { message: /does not take the token/ })
  await t.rejects(checkEgress({ ...egress.at, trust: stranger }, token), { message: /self-signed certificate/ })
  await t.rejects(checkEgress({ ...egress.at, host: '127.0.0.1', trust }, token), { message: /altnames/ })
  await t.rejects(checkEgress(egress.at, token), { message: /unreachable/ })
  t.match(await askProxy({ port: egress.at.port, line: 'CONNECT 10.0.0.1:443' }), { status: 0 })
  t.notMatch(await printedBy(egress), token)
})

t.test('egress TLS: a plain port serves clients of before as well, which still need the token', async (t) => {
  const port = await freePort()
  await using files = await makeFiles()
  using egress = await startTlsEgress(files, { SHUTTERFLEET_EGRESS_PLAIN_PORT: String(port) })
  using trust = await openEgressTrust(files.ca, unexpected)
  await checkEgress({ ...egress.at, trust }, token)
  await checkEgress({ host: '127.0.0.1', port }, token)
  t.match(await askProxy({ port, line: 'CONNECT 10.0.0.1:443' }), { status: 407 })
})

t.test('egress TLS: the filter connects to itself on neither of its ports', async (t) => {
  const port = await freePort()
  await using files = await makeFiles()
  const settings = { SHUTTERFLEET_EGRESS_PLAIN_PORT: String(port), SHUTTERFLEET_ALLOW_TARGETS: '127.0.0.1' }
  using egress = await startTlsEgress(files, settings)
  using trust = await openEgressTrust(files.ca, unexpected)
  for (const own of [port, egress.at.port]) {
    for (const from of [
      { ...egress.at, trust },
      { host: '127.0.0.1', port },
    ]) {
      const sent = requestConnect(from, { token, path: `127.0.0.1:${own}`, answerMs: 5000 })
      const [answer, socket] = (await once(sent, 'connect')) as [IncomingMessage, Socket]
      socket.destroy()
      t.equal(answer.headers[refusalHeader], 'blocked', `${from.port} to ${own}`)
    }
  }
})

t.test('egress TLS: a certificate that is replaced during captures fails none, nor a connection', async (t) => {
  await using pages = await startPages()
  const [now, next] = [certify(Date.now() + dayMs), certify(Date.now() + 2 * dayMs)]
  await using files = await makeFiles(now, next.certificate + now.certificate)
  using egress = await startTlsEgress(files, { SHUTTERFLEET_ALLOW_TARGETS: '127.0.0.1' })
  using trust = await openEgressTrust(files.ca, unexpected)
  await using host = await startTestHost({ egress: { ...egress.at, trust }, egressToken: token, folder: files.folder })
  const before = notAfterOf(await egress.metrics())
  // The key first: until the certificate follows they do not match, and the ones before stay in use.
  await replace(files.key, next.key)
  await eventually(async () => /certificate_read_failures_total\{name="egress",.*\} 1/.test(await egress.metrics()))
  t.match(await captureWith(host, { url: `${pages.url}/` }), { outcome: 'completed' })
  await replace(files.certificate, next.certificate)
  for (let isReplaced = false; !isReplaced;) {
    isReplaced = notAfterOf(await egress.metrics()) > before
    t.match(await captureWith(host, { url: `${pages.url}/` }), { outcome: 'completed' })
  }
  // What clients trust may then be shortened, without a restart too.
  await replace(files.ca, next.certificate)
  await checkEgress({ ...egress.at, trust }, token)
})

t.test('egress TLS: an expired certificate is named in the log, the metric and the error of clients', async (t) => {
  const untilMs = Math.floor(Date.now() / 1000) * 1000 - dayMs
  await using files = await makeFiles(certify(untilMs))
  using egress = await startTlsEgress(files)
  using trust = await openEgressTrust(files.ca, unexpected)
  await t.rejects(checkEgress({ ...egress.at, trust }, token), { message: /certificate has expired/ })
  t.equal(notAfterOf(await egress.metrics()), untilMs / 1000)
  t.match(await printedBy(egress), /"level":"error".*certificate has expired, clients refuse it/)
})

t.test('egress TLS: does not start without a usable certificate, nor with half of the settings', async (t) => {
  await using files = await makeFiles()
  for (const [settings, problem] of [
    [{ SHUTTERFLEET_EGRESS_KEY_FILE: files.ca }, /EGRESS_CERTIFICATE_FILE = .*cannot be used/],
    [{ SHUTTERFLEET_EGRESS_KEY_FILE: '' }, /must be set together/],
    [{ SHUTTERFLEET_EGRESS_CERTIFICATE_FILE: '/nonexistent' }, /EGRESS_CERTIFICATE_FILE = \/nonexistent/],
  ] as const) {
    using process = startEgressProcess({
      SHUTTERFLEET_EGRESS_CERTIFICATE_FILE: files.certificate,
      SHUTTERFLEET_EGRESS_KEY_FILE: files.key,
      ...settings,
    })
    t.equal(await process.ended, 78)
    t.match((await process.printed)[1], problem)
  }
  using plain = startEgressProcess({ SHUTTERFLEET_EGRESS_PLAIN_PORT: '3128' })
  t.equal(await plain.ended, 78)
  t.match((await plain.printed)[1], /PLAIN_PORT = 3128, but SHUTTERFLEET_EGRESS_CERTIFICATE_FILE is empty/)
})

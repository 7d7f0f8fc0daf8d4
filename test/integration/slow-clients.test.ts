import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import type { Admin } from '#gateway/admin/admin-route.ts'
import { adminPrefix } from '#gateway/admin/admin-document.ts'
import { adminRoutes } from '#gateway/admin/admin-routes.ts'
import { operatorOperations } from '#gateway/admin/operator-operations.ts'
import { oidcOperations } from '#gateway/operations/console/oidc-sign-in.ts'
import { sessionOperations } from '#gateway/operations/console/sessions.ts'
import { credentialsPath } from '#gateway/router/ask-cell.ts'
import { prefixes, routes } from '#gateway/routes.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { rawHead } from '#test/helpers/raw-client.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startRouter } from '#test/helpers/running-router.ts'

t.setTimeout(180_000)
const connectionsMax = 1200
const gateway = await startGateway(t, {
  ADMIN_TOKEN: 'x'.repeat(16),
  MCP: 'true',
  GATEWAY_CONNECTIONS_MAX: String(connectionsMax),
})
const { baseUrl, adminUrl, probeUrl, pid, database } = gateway
await replacePlans(database, defaultPlans)
const router = await startRouter(t, { one: baseUrl, two: baseUrl.replace('127.0.0.1', 'localhost') })

const mebibyte = 1024 * 1024
const bodyBytes = 7 * mebibyte
const some = Buffer.alloc(mebibyte, 0x20)
const most = Buffer.alloc(6 * mebibyte, 0x20)

/** A connection from another address of this machine, of which the client never closes its side. */
const openFrom = async (localAddress: string, url: string): Promise<Socket> => {
  const { hostname: host, port } = new URL(url)
  const socket = connect({ host, port: Number(port), localAddress, allowHalfOpen: true }).on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

const metricsOf = async (url: string) => (await fetch(`${url}/metrics`)).text()
/** The value of a metric, of which `label` is one label. */
const valueOf = async (url: string, name: string, label = '') =>
  Number(
    new RegExp(`^shutterfleet_${name}\\{[^}]*${label}[^}]*\\} (?<value>\\S+)$`, 'm').exec(await metricsOf(url))
      ?.groups?.['value'],
  )
const bytesBeingReceived = (url = probeUrl) => valueOf(url, 'http_body_bytes')
const connectionsOpen = async () =>
  Number(/^nodejs_active_resources\{[^}]*type="TCPSocketWrap"[^}]*\} (\S+)$/m.exec(await metricsOf(probeUrl))?.[1])
const residentBytes = async () =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

type Target = { readonly url: string; readonly method: string; readonly path: string }

const id = '00000000-0000-4000-8000-000000000000'
const pathOf = (path: string) => path.replaceAll(/:\w+/g, id)
const served = [...sessionOperations, ...oidcOperations, ...operatorOperations({} as Admin)]
/** Every route of every listener, by its methods. */
const targets: readonly Target[] = [
  ...prefixes.flatMap((prefix) => routes.map(({ method, path }) => ({ url: baseUrl, method, path: prefix + path }))),
  ...served.map(({ method, path }) => ({ url: baseUrl, method, path: `/console${path}` })),
  ...['/console', '/mcp', credentialsPath, '/nothing', '/healthz'].map((path) => ({
    ...{ url: baseUrl, path },
    method: 'POST',
  })),
  ...adminRoutes.map(({ method, path }) => ({ url: adminUrl, method, path: adminPrefix + path })),
  ...['/v1/screenshots', '/console/api/session'].map((path) => ({ url: router.baseUrl, method: 'POST', path })),
].map(({ path, ...target }) => ({ ...target, path: pathOf(path) }))

const wrongKey = `Authorization: Bearer sk_live_${'0'.repeat(40)}`
const announced = `Content-Length: ${bodyBytes}`

/** Sends the head of a request and a part of its body; what the server does not take stays with the client. */
const sendSlowly = async (
  { url, method, path }: Target,
  localAddress: string,
  headers: readonly string[],
  part = some,
) => {
  const socket = await openFrom(localAddress, url)
  socket.resume()
  socket.write(rawHead(`${method} ${path}`, ['Host: a', 'Content-Type: application/json', ...headers]))
  if (headers.includes(announced)) socket.write(part)
  else socket.write(Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]))
  return socket
}

/** Sockets that never send anything, opened first because the gateway ends them only after a while. */
const share = connectionsMax / 4
const idleCount = share + 100
const idle = Array.from({ length: idleCount }, () => openFrom('127.0.9.1', baseUrl).catch(() => undefined))
await Promise.all(idle)

t.test('slow clients: idle connections of one client are bounded by its share', async (t) => {
  const refused = () => valueOf(probeUrl, 'http_connections_refused_total', 'bound="client"')
  // On a busy machine the first ones may end by their time before the last ones are accepted, which then find room.
  await eventually(async () => (await refused()) > 0)
  t.ok((await refused()) <= idleCount - share, 'no connection within the share is refused')
  t.ok((await connectionsOpen()) <= share + 50, 'no more are open')
  t.equal((await fetch(`${baseUrl}/v1/openapi.json`)).status, 200, 'other clients are served')
})

t.test('slow clients: bodies to every route take no memory without a credential', async (t) => {
  const before = await residentBytes()
  const sockets: Socket[] = []
  for (const [index, target] of targets.entries()) {
    const address = `127.0.${1 + Math.floor(index / 200)}.${1 + (index % 200)}`
    sockets.push(await sendSlowly(target, address, [wrongKey, announced]))
    sockets.push(await sendSlowly(target, address, [wrongKey, 'Transfer-Encoding: chunked']))
  }
  const signIn = { url: baseUrl, method: 'POST', path: '/console/api/session' }
  for (const client of [1, 2, 3, 4])
    for (let count = 0; count < 15; count += 1)
      sockets.push(await sendSlowly(signIn, `127.0.8.${client}`, ['Sec-Fetch-Site: same-origin', announced], most))
  await eventually(() => sockets.every(({ writableLength, closed }) => writableLength === 0 || closed))
  const grown = (await residentBytes()) - before
  t.ok(grown < 144 * mebibyte, `${Math.round(grown / mebibyte)} MiB for ${sockets.length} slow bodies`)
  t.ok((await bytesBeingReceived()) <= 60 * 4096, 'sign-ins alone are read, up to 4 KiB each')
  t.ok((await bytesBeingReceived(router.probeUrl)) <= 2 * 4096, 'in the router too')
})

t.test('slow clients: what is being received for one account is bounded, and leaves the rest to others', async (t) => {
  const newKey = async () => {
    const { id: accountId } = await createAccount(database, { name: 'A', email: 'a@example.com', plan: 'unlimited' })
    return (await createKey(database, { accountId, name: '', domains: [], pepper: testPepper })).key
  }
  const [slow, other] = [await newKey(), await newKey()]
  const capture = { url: baseUrl, method: 'POST', path: '/v1/screenshots' }
  const authorization = `Authorization: Bearer ${slow}`
  const before = await bytesBeingReceived()
  const sending: NodeJS.Timeout[] = []
  for (const client of [1, 2, 3]) {
    const socket = await sendSlowly(capture, `127.0.7.${client}`, [authorization, announced])
    // Fast enough not to be ended before the fourth asks, however busy the machine is.
    const timer = setInterval(() => socket.write(some.subarray(0, 64 * 1024)), 1000)
    socket.once('close', () => clearInterval(timer))
    sending.push(timer)
  }
  await eventually(async () => (await bytesBeingReceived()) >= 3 * bodyBytes, { what: 'three bodies are being read' })
  t.ok((await bytesBeingReceived()) <= before + 3 * bodyBytes)
  const socket = await openFrom('127.0.7.4', baseUrl)
  socket.write(rawHead('POST /v1/screenshots', ['Host: a', authorization, announced]))
  const [answer] = (await once(socket.setEncoding('latin1'), 'data')) as [string]
  t.match(answer, /^HTTP\/1\.1 503 [^]*\r\nretry-after: 1\r\n[^]*"code":"SERVICE_UNAVAILABLE"/)
  const counted = await valueOf(probeUrl, 'http_requests_total', 'code="OVER_SHARE"')
  t.equal(counted, 1, 'which is no fault of the service')
  const created = await fetch(`${baseUrl}/v1/screenshots`, {
    method: 'POST',
    headers: { authorization: `Bearer ${other}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://example.com/' }),
  })
  t.equal(created.status, 202)
  for (const timer of sending) clearInterval(timer)
})

t.test('slow clients: all these connections are destroyed, though no client closes its side', async (t) => {
  const areClosed = async () => (await connectionsOpen()) < 50 && (await bytesBeingReceived()) === 0
  await eventually(areClosed, { withinMs: 60_000, what: 'they are closed' })
  t.equal(await bytesBeingReceived(router.probeUrl), 0, 'and those of the router')
})

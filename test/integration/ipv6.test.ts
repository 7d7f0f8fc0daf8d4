import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { startSystem } from '#test/helpers/system.ts'
import { makeCertificate } from '#test/helpers/webhook-receiver.ts'

// A system whose services, stores, page and receiver of webhooks have IPv6 addresses only. The S3 server of tests rejects
// signatures over an IPv6 host, also those of MinIO's own client; test/unit/shared/storage compares with these.

const host = '[::1]'
const [postgres, nats, certificate] = await Promise.all([
  startPostgres(t, undefined, undefined, host),
  startNats(t, { host }),
  makeCertificate([]),
])
const received: string[] = []
const respond: RequestListener = (request, response) => {
  received.push(`${request.method} ${request.url}`)
  response.setHeader('content-type', 'text/html').end('<h1>IPv6</h1>')
}
const tls = { cert: await readFile(certificate.certPath), key: await readFile(certificate.keyPath) }
const servers = [createServer(respond), createTlsServer(tls, respond)] as const
t.teardown(async () => {
  for (const server of servers) server.close().closeAllConnections()
  await certificate[Symbol.asyncDispose]()
})
const listen = async (server: Server) => {
  server.listen(0, '::1')
  await once(server, 'listening')
  return `${host}:${(server.address() as AddressInfo).port}`
}
const [page, receiver] = [await listen(servers[0]), await listen(servers[1])]

const services = ['GATEWAY', 'GATEWAY_OBJECTS', 'EGRESS', 'ADMIN', 'PROBE']
const hosts = Object.fromEntries(services.map((name) => [`SHUTTERFLEET_${name}_HOST`, '::1']))
const stores = ['--postgres', (await postgres.createDatabase()).url, '--nats', nats.url]
const system = await startSystem(
  [
    ...stores,
    '--allow-target',
    page,
    '--allow-target',
    receiver,
    '--extra-ca',
    certificate.certPath,
    '--workers-max',
    '1',
  ],
  { env: { ...hosts, SHUTTERFLEET_ADMIN_TOKEN: 'a-token-of-the-administration' } },
)
t.teardown(() => system.stop())

t.test('ipv6: captures a page of IPv6 by services that listen on IPv6 alone, and delivers its webhook', async (t) => {
  const { base_url: baseUrl, services: running } = await system.readLocal()
  const addresses = [baseUrl, ...running.map(({ metrics_url: url }) => url)]
  t.ok(addresses.length > 5)
  for (const url of addresses) t.match(url, `http://${host}:`)

  const id = await system.create({ url: `http://${page}/page`, webhook_url: `https://${receiver}/hook`, timeout: 20 })
  await eventually(() => received.includes('POST /hook'), { withinMs: 60_000, what: 'the webhook' })
  t.match(await system.record(id), { status: 'completed', target_status: 200 })
  t.equal((await system.request(`/v1/screenshots/${id}/image`)).status, 200)
  t.ok(received.includes('GET /page'))
})

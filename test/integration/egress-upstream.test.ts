import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Connect } from '#egress/connections/dial.ts'
import { proxyHeader, proxyHeaderValue } from '#shared/net/callers-proxy.ts'
import { parseBlocks, type Cidr } from '#shared/policy/cidr.ts'
import type { CaseRecords } from '#test/fixtures/ssrf-cases.ts'
import { listening, createResolver, targetRules, startCanary, startFilter } from '#test/helpers/egress-filter.ts'
import { startEgressProcess } from '#test/helpers/egress-process.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { askProxy } from '#test/helpers/proxy-client.ts'
import { type RealProxy, startMicrosocks, startSquid, withoutRealProxies } from '#test/helpers/real-proxies.ts'

t.equal(withoutRealProxies(), false, 'squid and microsocks are installed')
const login = { user: 'us3r', password: 's3:cr@t' }

const startPage = async () => {
  const received: string[] = []
  const server = createServer((request, response) => {
    received.push(`${request.headers.host}${request.url}`)
    response.end('page')
  })
  return { ...(await listening(server)), received }
}

/** A filter behind `proxy` that allows loopback; `dialled` contains every port that it connected to itself. */
const startBehind = async (
  proxy: Pick<RealProxy, 'port'>,
  options: {
    readonly records?: CaseRecords
    readonly credentials?: typeof login
    readonly connectMs?: number
    readonly nat64?: readonly Cidr[]
  } = {},
) => {
  const dialled: number[] = []
  const noting: Connect = ({ host, port }) => {
    dialled.push(port)
    return connect({ host, port, allowHalfOpen: true })
  }
  const { records = {}, credentials = login, connectMs = 5000, nat64 = [] } = options
  const filter = await startFilter({
    rules: { ...targetRules('127.0.0.0/8'), nat64: async () => nat64 },
    resolver: createResolver({ 'page.test': { A: ['127.0.0.1'] }, ...records }),
    connect: noting,
    connectMs,
    upstream: { host: '127.0.0.1', port: proxy.port, credentials },
  })
  return { ...filter, dialled }
}

/** Requests a page plainly and through a tunnel. */
const askBoth = async (port: number, host: string, headers: readonly string[] = []) => {
  const plain = await askProxy({ port, line: `GET http://${host}/plain`, headers })
  const tunnel = await askProxy({ port, line: `CONNECT ${host}`, headers })
  tunnel.socket.write(`GET /tunnel HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  return { plain, tunnel, tunnelled: tunnel.status === 200 ? await text(tunnel.socket) : '' }
}

const logged = async (proxy: RealProxy, what: RegExp) => eventually(async () => what.test(await proxy.log()))

t.test('upstream proxy: every connection is a tunnel to the checked address, with the credentials', async (t) => {
  await using page = await startPage()
  await using squid = await startSquid(login, [])
  await using filter = await startBehind(squid)
  const host = `page.test:${page.port}`
  const { plain, tunnelled } = await askBoth(filter.port, host)
  t.match(plain, { status: 200, body: 'page' })
  t.match(tunnelled, /^HTTP\/1\.1 200 OK[^]*page$/)
  t.same(page.received, [`${host}/plain`, `${host}/tunnel`])
  await logged(squid, new RegExp(`(/200 .* CONNECT 127\\.0\\.0\\.1:${page.port} us3r [^]*){2}`))
  t.notMatch(await squid.log(), /page\.test/)
  t.same(filter.dialled, [squid.port, squid.port])
})

t.test('upstream proxy: receives no requests for refused targets, which include itself', async (t) => {
  await using squid = await startSquid(login, [])
  await using filter = await startBehind(squid, {
    records: { 'private.test': { A: ['10.0.0.1'] }, 'mixed.test': { A: ['93.184.216.34', '192.168.0.1'] } },
  })
  const own = `127.0.0.1:${squid.port}`
  for (const host of ['private.test:80', 'mixed.test:80', '169.254.169.254:80', 'grafana:80', own]) {
    const { plain, tunnel } = await askBoth(filter.port, host)
    t.match([plain.refusal, tunnel.refusal], ['blocked', 'blocked'], host)
  }
  t.same(filter.dialled, [])
})

t.test('upstream proxy: is refused as a target under its NAT64 address too', async (t) => {
  await using squid = await startSquid(login, [])
  const nat64 = parseBlocks(['64:ff9b::/96'])
  await using filter = await startBehind(squid, { nat64, records: { 'six.test': { AAAA: ['64:ff9b::7f00:1'] } } })
  for (const host of [`[64:ff9b::7f00:1]:${squid.port}`, `six.test:${squid.port}`]) {
    const { plain, tunnel } = await askBoth(filter.port, host)
    t.match([plain.refusal, tunnel.refusal], ['blocked', 'blocked'], host)
  }
  t.same(filter.dialled, [])
})

t.test('upstream proxy: the next address is tried if the proxy cannot reach the first', async (t) => {
  await using page = await startPage()
  await using squid = await startSquid(login, [])
  await using filter = await startBehind(squid, { records: { 'two.test': { A: ['127.0.0.9', '127.0.0.1'] } } })
  const { plain } = await askBoth(filter.port, `two.test:${page.port}`)
  t.match(plain, { status: 200, body: 'page' })
  await logged(squid, new RegExp(`/503 .* CONNECT 127\\.0\\.0\\.9:${page.port} us3r `))
})

t.test('upstream proxy: wrong credentials or an unreachable upstream are `unavailable`, a service fault', async (t) => {
  await using page = await startPage()
  const host = `page.test:${page.port}`
  await using squid = await startSquid(login, [])
  for (const credentials of [
    { user: 'us3r', password: 'wrong' },
    { user: 'other', password: login.password },
  ]) {
    await using filter = await startBehind(squid, { credentials })
    const { plain, tunnel } = await askBoth(filter.port, host)
    t.match([plain.refusal, tunnel.refusal], ['unavailable', 'unavailable'], credentials.user)
  }
  const port = await freePort()
  await using filter = await startBehind({ port })
  const { plain, tunnel } = await askBoth(filter.port, host)
  t.match([plain, tunnel], [{ status: 503, refusal: 'unavailable' }, { refusal: 'unavailable' }])
  t.same(page.received, [])
  const refused = filter.events.find(({ name }) => name === 'refused')
  t.match(refused?.args[1], { code: 'SERVICE_UNAVAILABLE', message: /SHUTTERFLEET_EGRESS_UPSTREAM_PROXY/ })
})

t.test('upstream proxy: a target that it cannot reach or tunnel to is a failed connection', async (t) => {
  await using page = await startPage()
  await using squid = await startSquid(login, [], '443')
  await using filter = await startBehind(squid)
  const { plain, tunnel } = await askBoth(filter.port, `page.test:${page.port}`)
  t.match([plain.refusal, tunnel.refusal], ['connection_failed', 'connection_failed'])
  t.same(page.received, [], 'no plain request')
  await logged(squid, /TCP_DENIED\/403 .* CONNECT/)
  t.notMatch(await squid.log(), / GET /)
})

t.test('upstream proxy: a silent upstream times out within twice the wait', async (t) => {
  await using silent = await startCanary()
  await using filter = await startBehind(silent, { connectMs: 200 })
  const { plain } = await askBoth(filter.port, 'page.test:80')
  t.match(plain, { status: 504, refusal: 'connection_failed' })
})

t.test("upstream proxy: a caller's proxy is reached through it", async (t) => {
  await using page = await startPage()
  await using squid = await startSquid(login, [])
  await using filter = await startBehind(squid)
  const host = `127.0.0.1:${page.port}`
  await using socks = await startMicrosocks({ user: 'call3r', password: 'pw' })
  await using second = await startSquid({ user: 'call3r', password: 'pw' }, [], '443')
  for (const [proxy, port] of [
    [`socks5://call3r:pw@127.0.0.1:${socks.port}`, socks.port],
    [`http://call3r:pw@127.0.0.1:${second.port}`, second.port],
  ] as const) {
    const headers = [`${proxyHeader}: ${proxyHeaderValue(proxy)}`]
    const { plain, tunnelled } = await askBoth(filter.port, host, headers)
    t.match(plain, { status: 200, body: 'page' }, proxy)
    t.match(tunnelled, /^HTTP\/1\.1 200 OK[^]*page$/, proxy)
    await logged(squid, new RegExp(`/200 .* CONNECT 127\\.0\\.0\\.1:${port} us3r `))
  }
  await logged(socks, new RegExp(`connected to ${host}`))
  await logged(second, new RegExp(`/200 .* GET http://${host}/tunnel call3r `))
  t.ok(filter.dialled.every((port) => port === squid.port))
})

t.test('upstream proxy: the setting takes a host name too, and its credentials are not printed', async (t) => {
  await using page = await startPage()
  await using squid = await startSquid(login, [])
  using service = startEgressProcess({
    SHUTTERFLEET_LOG_LEVEL: 'debug',
    SHUTTERFLEET_ALLOW_TARGETS: '127.0.0.1',
    SHUTTERFLEET_EGRESS_UPSTREAM_PROXY: `http://us3r:s3%3Acr%40t@localhost:${squid.port}`,
  })
  const { egress = '' } = await service.announced
  const { plain } = await askBoth(Number(new URL(egress).port), `127.0.0.1:${page.port}`)
  t.match(plain, { status: 200, body: 'page' })
  await logged(squid, new RegExp(`/200 .* CONNECT 127\\.0\\.0\\.1:${page.port} us3r `))
  service.child.kill('SIGTERM')
  const printed = (await service.printed).join('')
  for (const secret of ['us3r', 's3%3Acr', 's3:cr', btoa('us3r:s3:cr@t')]) t.notOk(printed.includes(secret), secret)
})

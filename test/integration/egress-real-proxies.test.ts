import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Connect } from '#egress/connections/dial.ts'
import { proxyHeader, proxyHeaderValue } from '#shared/net/callers-proxy.ts'
import { unusedResolver, type Filter, listening, targetRules, startFilter } from '#test/helpers/egress-filter.ts'
import { startEgressProcess } from '#test/helpers/egress-process.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { askProxy } from '#test/helpers/proxy-client.ts'
import { type RealProxy, startMicrosocks, startSquid, withoutRealProxies } from '#test/helpers/real-proxies.ts'

const skip = withoutRealProxies()
const login = { user: 'us3r', password: 's3:cr@t' }
const right = 'us3r:s3%3Acr%40t@'
/** Defined only in squid's hosts file. */
const secretName = 'only-squid-knows.test'

const startPage = async () => {
  const received: string[] = []
  const server = createServer((request, response) => {
    received.push(`${request.headers.host}${request.url}`)
    response.end('page')
  })
  return { ...(await listening(server)), received }
}

/** A filter with these allowed targets that resolves no names; `dialled` contains every port that it connected to. */
const startNameless = async (...allow: readonly string[]) => {
  const dialled: number[] = []
  const noting: Connect = ({ host, port }) => {
    dialled.push(port)
    return connect({ host, port, allowHalfOpen: true })
  }
  const filter = await startFilter({ rules: targetRules(allow.join(' ')), resolver: unusedResolver, connect: noting })
  return { ...filter, dialled }
}

const through = (proxy: string) => [`${proxyHeader}: ${proxyHeaderValue(proxy)}`]

/** Requests a page plainly and through a tunnel. */
const askBoth = async ({ port }: Pick<Filter, 'port'>, host: string, proxy: string) => {
  const headers = through(proxy)
  const plain = await askProxy({ port, line: `GET http://${host}/plain`, headers })
  const tunnel = await askProxy({ port, line: `CONNECT ${host}`, headers })
  tunnel.socket.write(`GET /tunnel HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  return { plain, tunnel, tunnelled: tunnel.status === 200 ? await text(tunnel.socket) : '' }
}

const logged = async (proxy: RealProxy, what: RegExp) => eventually(async () => what.test(await proxy.log()))

t.test('egress real proxies: reaches a page through squid, by a name that only squid resolves', { skip }, async (t) => {
  await using page = await startPage()
  await using squid = await startSquid(login, [secretName])
  await using filter = await startNameless(`127.0.0.1:${squid.port}`)
  const host = `${secretName}:${page.port}`
  const { plain, tunnelled } = await askBoth(filter, host, `http://${right}127.0.0.1:${squid.port}`)
  t.match(plain, { status: 200, body: 'page', headers: { via: /squid/ } })
  t.match(tunnelled, /^HTTP\/1\.1 200 OK[^]*page$/)
  t.same(page.received, [`${host}/plain`, `${host}/tunnel`])
  await logged(squid, new RegExp(`/200 .* GET http://${host}/plain us3r `))
  await logged(squid, new RegExp(`/200 .* CONNECT ${host} us3r `))
  t.same(filter.dialled, [squid.port, squid.port])
})

t.test(
  'egress real proxies: reaches a plain page through a default squid, which tunnels to port 443 only',
  { skip },
  async (t) => {
    await using page = await startPage()
    await using squid = await startSquid(login, [secretName], '443')
    await using filter = await startNameless(`127.0.0.1:${squid.port}`)
    const host = `${secretName}:${page.port}`
    const { tunnelled } = await askBoth(filter, host, `http://${right}127.0.0.1:${squid.port}`)
    t.match(tunnelled, /^HTTP\/1\.1 200 OK[^]*page$/)
    await logged(squid, new RegExp(`TCP_DENIED/403 .* CONNECT ${host} `))
    await logged(squid, new RegExp(`/200 .* GET http://${host}/tunnel us3r `))
  },
)

t.test('egress real proxies: squid refuses invalid credentials, and the page is not requested', { skip }, async (t) => {
  await using page = await startPage()
  await using squid = await startSquid(login, [secretName])
  await using filter = await startNameless(`127.0.0.1:${squid.port}`)
  for (const credentials of ['', 'us3r@', 'us3r:wrong@', 'other:s3%3Acr%40t@']) {
    const proxy = `http://${credentials}127.0.0.1:${squid.port}`
    const { plain, tunnel } = await askBoth(filter, `${secretName}:${page.port}`, proxy)
    t.match(plain, { status: 502, refusal: 'connection_failed', body: '' }, `plain ${credentials}`)
    t.match(tunnel, { status: 502, refusal: 'connection_failed' }, `tunnel ${credentials}`)
  }
  await logged(squid, /TCP_DENIED\/407 .* CONNECT/)
  t.same(page.received, [])
  t.ok(filter.dialled.every((port) => port === squid.port))
})

t.test(
  'egress real proxies: a name that squid cannot resolve is a failed connection, not a capture of its error page',
  { skip },
  async (t) => {
    await using squid = await startSquid(login, [])
    await using filter = await startNameless(`127.0.0.1:${squid.port}`)
    const { plain, tunnel } = await askBoth(filter, 'nowhere.invalid:80', `http://${right}127.0.0.1:${squid.port}`)
    t.match(plain, { status: 502, refusal: 'connection_failed', body: '' })
    t.match(tunnel, { status: 502, refusal: 'connection_failed' })
  },
)

for (const [how, expected, credentials] of [
  ['without credentials', undefined, ''],
  ['with credentials that it does not require', undefined, right],
  ['with credentials', login, right],
] as const) {
  t.test(
    `egress real proxies: reaches a page through microsocks, ${how}, by name and by address`,
    { skip },
    async (t) => {
      await using page = await startPage()
      await using socks = await startMicrosocks(expected)
      // The page is allowed, so only the proxy setting keeps the filter from connecting to it directly.
      await using filter = await startNameless('127.0.0.1', 'localhost')
      for (const scheme of ['socks5', 'socks5h']) {
        for (const host of [`localhost:${page.port}`, `127.0.0.1:${page.port}`]) {
          const { plain, tunnelled } = await askBoth(filter, host, `${scheme}://${credentials}127.0.0.1:${socks.port}`)
          t.match(plain, { status: 200, body: 'page' })
          t.match(tunnelled, /^HTTP\/1\.1 200 OK[^]*page$/)
          t.same(page.received.splice(0), [`${host}/plain`, `${host}/tunnel`])
          await logged(socks, new RegExp(`connected to ${host}`))
        }
      }
      t.ok(filter.dialled.length === 8 && filter.dialled.every((port) => port === socks.port))
    },
  )
}

t.test(
  'egress real proxies: microsocks refuses invalid credentials, and the page is not requested',
  { skip },
  async (t) => {
    await using page = await startPage()
    await using socks = await startMicrosocks(login)
    await using filter = await startNameless('127.0.0.1', 'localhost')
    for (const credentials of ['', 'us3r@', 'us3r:wrong@', 'other:s3%3Acr%40t@']) {
      const proxy = `socks5://${credentials}127.0.0.1:${socks.port}`
      const { plain, tunnel } = await askBoth(filter, `localhost:${page.port}`, proxy)
      t.match(plain, { status: 502, refusal: 'connection_failed', body: '' }, `plain ${credentials}`)
      t.match(tunnel, { status: 502, refusal: 'connection_failed' }, `tunnel ${credentials}`)
    }
    t.same(page.received, [])
    t.ok(filter.dialled.every((port) => port === socks.port))
  },
)

t.test('egress real proxies: a page that microsocks cannot reach is a failed connection', { skip }, async (t) => {
  await using socks = await startMicrosocks()
  await using filter = await startNameless('127.0.0.1')
  const dead = await freePort()
  const { plain, tunnel } = await askBoth(filter, `127.0.0.1:${dead}`, `socks5://127.0.0.1:${socks.port}`)
  t.match(plain, { refusal: 'connection_failed', body: '' })
  t.match(tunnel, { refusal: 'connection_failed' })
})

t.test(
  'egress real proxies: logs contain only the host of a proxy, at every level, and metrics only its kind',
  { skip },
  async (t) => {
    await using page = await startPage()
    await using squid = await startSquid(login, [secretName])
    await using socks = await startMicrosocks(login)
    using service = startEgressProcess({
      SHUTTERFLEET_LOG_LEVEL: 'debug',
      SHUTTERFLEET_ALLOW_TARGETS: `127.0.0.1 localhost:${page.port}`,
    })
    const addresses = await service.announced
    const filter = { port: Number(new URL(addresses['egress'] ?? '').port) }
    for (const credentials of [right, 'us3r:s3cret-too@', 'us3r:s3cret%zz@']) {
      await askBoth(filter, `${secretName}:${page.port}`, `http://${credentials}127.0.0.1:${squid.port}`)
      await askBoth(filter, `localhost:${page.port}`, `socks5://${credentials}127.0.0.1:${socks.port}`)
      await askBoth(filter, 'page.test:80', `http://${credentials}10.0.0.1:3128`)
    }
    const metrics = await (await fetch(`${addresses.probeUrl}/metrics`)).text()
    t.match(metrics, /egress_connections_opened_total\{kind="tunnel",route="http_proxy",component="egress"\} 1\n/)
    t.match(metrics, /egress_connections_opened_total\{kind="request",route="socks5_proxy",component="egress"\} 1\n/)
    t.match(
      metrics,
      /egress_requests_refused_total\{kind="tunnel",route="socks5_proxy",refusal="connection_failed",.*\} 1\n/,
    )
    t.match(metrics, /egress_requests_refused_total\{kind="tunnel",route="http_proxy",refusal="blocked",.*\} 2\n/)
    t.match(metrics, /egress_requests_refused_total\{kind="tunnel",route="unknown",refusal="bad_request",.*\} 3\n/)
    service.child.kill('SIGTERM')
    const printed = (await service.printed).join('')
    t.match(printed, /"host":"only-squid-knows\.test","route":"http_proxy","proxy":"127\.0\.0\.1"/)
    t.match(printed, /the caller's proxy: the response to CONNECT is 407/)
    for (const secret of ['us3r', 's3%3Acr', 's3:cr', 's3cret', btoa('us3r:s3:cr@t'), btoa('us3r:s3cret-too')]) {
      t.notOk(printed.includes(secret), `${secret} is not printed`)
    }
  },
)

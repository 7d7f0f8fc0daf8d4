import { createServer } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import type { Connect } from '#egress/connections/dial.ts'
import type { Resolver } from '#egress/target/resolve-target.ts'
import { isPublicAddress } from '#shared/policy/address.ts'
import { type SsrfCase, ssrfCases } from '#test/fixtures/ssrf-cases.ts'
import {
  internet,
  listening,
  createResolver,
  targetRules,
  startCanary,
  startFilter,
} from '#test/helpers/egress-filter.ts'
import { askProxy, type ProxyAnswer } from '#test/helpers/proxy-client.ts'

/** The network of the filter: a canary for all non-public addresses, one server for all public ones. */
const startWorld = async (location?: (url: string) => string | undefined) => {
  const stack = new AsyncDisposableStack()
  const canary = stack.use(await startCanary())
  const page = createServer((request, response) => {
    const to = location?.(`http://${request.headers.host}${request.url}`)
    if (to === undefined) response.end('page')
    else response.writeHead(302, { location: to }).end()
  })
  const { port } = stack.use(await listening(page))
  return {
    connect: internet({ public: port, canary: canary.port }),
    canary,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Requests a URL as a browser does: http in absolute form, others by CONNECT. */
const visit = async (port: number, text: string): Promise<ProxyAnswer> => {
  const url = new URL(text)
  if (url.protocol === 'http:') return askProxy({ port, line: `GET ${url.href}` })
  const standard = url.protocol === 'ws:' ? 80 : 443
  const answer = await askProxy({ port, line: `CONNECT ${url.hostname}:${url.port || standard}` })
  answer.socket.destroy()
  return answer
}

const inputOf = ({ input }: SsrfCase) => (typeof input === 'string' ? { url: input } : input)

const connectLine = (text: string): string => {
  const { hostname, port } = new URL(text)
  return `CONNECT ${hostname}:${port || 443}`
}

t.test('egress cases: refuses every literal and parser trick, in absolute form and by CONNECT', async (t) => {
  await using world = await startWorld()
  await using filter = await startFilter({ connect: world.connect })
  for (const row of ssrfCases('literal', 'parser')) {
    const { url = '' } = inputOf(row)
    const lines = [`GET ${url}`, ...(URL.canParse(url) ? [`GET ${new URL(url).href}`, connectLine(url)] : [])]
    for (const line of lines) {
      const { status, refusal } = await askProxy({ port: filter.port, line })
      // Node's parser cuts a line that it cannot parse, without a response.
      t.ok(
        status === 0 || refusal === 'blocked' || refusal === 'bad_request',
        `${row.id} ${line}: ${status} ${refusal}`,
      )
    }
  }
  t.equal(world.canary.connections(), 0)
})

// Contract: Error mapping
t.test('egress cases: checks names by their addresses', async (t) => {
  await using world = await startWorld()
  for (const row of ssrfCases('dns', 'webhook', 'public')) {
    const { url, webhook_url: webhookUrl, dns } = inputOf(row)
    const target = url ?? webhookUrl ?? ''
    if (dns === undefined) continue
    await using filter = await startFilter({ connect: world.connect, resolver: createResolver(dns) })
    const { status, refusal } = await visit(filter.port, target)
    const unresolved = Object.values(dns).every(
      (record) => record.ERR !== undefined || Object.keys(record).length === 0,
    )
    const want = row.expect === 'allowed' ? undefined : unresolved ? 'dns_failed' : 'blocked'
    t.equal(refusal, want, `${row.id} ${row.note}`)
    if (want === undefined) t.equal(status, 200)
  }
  t.equal(world.canary.connections(), 0)
})

t.test('egress cases: refuses bad ports, and connects to public targets', async (t) => {
  await using world = await startWorld()
  const dns = { 'example.com': { A: ['93.184.215.14'] } }
  await using filter = await startFilter({ connect: world.connect, resolver: createResolver(dns) })
  for (const row of ssrfCases('port')) {
    const { url = '' } = inputOf(row)
    for (const line of [`GET ${url.replace('https:', 'http:')}`, connectLine(url)]) {
      const { refusal, socket } = await askProxy({ port: filter.port, line })
      socket.destroy()
      t.equal(refusal, row.expect === 'allowed' ? undefined : 'blocked', `${row.id} ${line}`)
    }
  }
  for (const row of ssrfCases('public')) {
    const { url = '', dns: own } = inputOf(row)
    if (own !== undefined || url.startsWith('<')) continue
    t.equal((await visit(filter.port, url)).refusal, undefined, `${row.id} ${row.note}`)
  }
  t.equal(world.canary.connections(), 0)
})

t.test('egress cases: resolves the name for each connection, so that DNS rebinding has no effect', async (t) => {
  await using world = await startWorld()
  for (const row of ssrfCases('rebind')) {
    const { url = '', dns_sequence: sequences = {} } = inputOf(row)
    let requests = 0
    const next = async (name: string): Promise<readonly string[]> => {
      const sequence = sequences[name] ?? []
      requests += 1
      return sequence[(requests - 1) % sequence.length] ?? []
    }
    const resolver: Resolver = { resolve: next, lookup: next }
    await using filter = await startFilter({ connect: world.connect, resolver })
    const [sequence = []] = Object.values(sequences)
    for (let load = 0; load < 50; load += 1) {
      const addresses = sequence[load % sequence.length] ?? []
      const { refusal } = await visit(filter.port, url)
      t.equal(refusal, addresses.every(isPublicAddress) ? undefined : 'blocked', `${row.id} connection ${load + 1}`)
    }
  }
  t.equal(world.canary.connections(), 0)
})

/** Cases that clients handle: an endless chain, and a webhook sender that follows no redirect. */
const leftToClients = ['redirect-013', 'redirect-014']

// Contract: Error mapping
t.test('egress cases: refuses the private hop of every redirect chain', async (t) => {
  for (const row of ssrfCases('redirect').filter(({ id }) => !leftToClients.includes(id))) {
    const hops = (inputOf(row).chain ?? []).map((hop) => hop.split(/ -\d+-> (?:then page opens )?/))
    await using world = await startWorld((url) => hops.find(([from]) => from === url)?.[1])
    const names = ['example.com', 'a.example.com', 'b.example.com', 'c.example.com']
    const dns = Object.fromEntries(names.map((name) => [name, { A: ['93.184.215.14'] }]))
    await using filter = await startFilter({ connect: world.connect, resolver: createResolver(dns) })
    const [first = ''] = hops[0] ?? []
    let url = first
    let answer = await visit(filter.port, url)
    for (let hop = 0; hop < 20 && answer.refusal === undefined; hop += 1) {
      // The filter does not see redirects inside a tunnel; their target comes from the case.
      url = answer.headers.location ?? hops.find(([from]) => from === url)?.[1] ?? ''
      answer = await visit(filter.port, url)
    }
    t.equal(answer.refusal, 'blocked', `${row.id} at ${url}`)
    t.not(url, first, 'the chain was followed')
    t.equal(world.canary.connections(), 0)
  }
})

t.test('egress cases: the canary is reached through a filter that allows everything', async (t) => {
  await using world = await startWorld()
  await using filter = await startFilter({ connect: world.connect, rules: targetRules('0.0.0.0/0') })
  const answer = await askProxy({ port: filter.port, line: 'CONNECT 10.0.0.1:443' })
  answer.socket.destroy()
  t.equal(answer.status, 200)
  t.equal(world.canary.connections(), 1)
})

t.test('egress cases: a connection to another peer than the checked address is cut', async (t) => {
  await using canary = await startCanary()
  // Simulates a fault in routing or dialling.
  const astray: Connect = () => connect({ host: '127.0.0.1', port: canary.port })
  await using filter = await startFilter({ connect: astray })
  for (const line of ['CONNECT 93.184.215.14:443', 'GET http://93.184.215.14/']) {
    t.match(await askProxy({ port: filter.port, line }), { status: 403, refusal: 'blocked', body: '' })
  }
})

import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import t from 'tap'
import type { Connect } from '#egress/connections/dial.ts'
import { proxyHeader } from '#shared/net/callers-proxy.ts'
import { captureHeader } from '#shared/net/refusal.ts'
import { parseCidr } from '#shared/policy/cidr.ts'
import { ssrfCases } from '#test/fixtures/ssrf-cases.ts'
import {
  unusedResolver,
  internet,
  listening,
  createResolver,
  targetRules,
  startCanary,
  startFilter,
} from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { askProxy } from '#test/helpers/proxy-client.ts'
import { type Reply, startScriptedProxy } from '#test/helpers/scripted-proxy.ts'

const rules = targetRules('127.0.0.1')
const through = (proxy: string) => [`${proxyHeader}: ${proxy}`]
const established = 'HTTP/1.1 200 OK\r\nX-Any: 1\r\n\r\n'
const socksGranted: readonly Reply[] = [Buffer.of(5, 0), Buffer.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0)]

// Contract: `proxy`
t.test('egress proxy: requests a tunnel by name from an HTTP proxy, and keeps bytes behind its response', async (t) => {
  await using proxy = await startScriptedProxy(`${established}early`, '', null)
  await using filter = await startFilter({ rules, resolver: unusedResolver })
  const { socket } = await askProxy({
    port: filter.port,
    line: 'CONNECT Page.test.:443',
    headers: through(`http://us%40r:p%3Aw@127.0.0.1:${proxy.port}`),
  })
  socket.end('hello')
  t.equal(await text(socket), 'early')
  const authorization = `Proxy-Authorization: Basic ${btoa('us@r:p:w')}`
  t.equal(
    Buffer.concat(proxy.received).toString(),
    `CONNECT page.test:443 HTTP/1.1\r\nHost: page.test:443\r\n${authorization}\r\n\r\nhello`,
  )
  t.match(filter.events, [
    { name: 'clientConnected' },
    { name: 'opened', args: [{ host: 'page.test', route: 'http_proxy', proxy: '127.0.0.1' }] },
  ])
  t.notMatch(inspect(filter.events, { depth: null }), /us@r|us%40r|p:w|p%3Aw/)
})

t.test('egress proxy: requests a tunnel to an IPv6 address in brackets from an HTTP proxy', async (t) => {
  await using proxy = await startScriptedProxy(established)
  await using filter = await startFilter({ rules, resolver: unusedResolver })
  const headers = through(`http://127.0.0.1:${proxy.port}`)
  const { socket } = await askProxy({ port: filter.port, line: 'CONNECT [2606:4700::1]:443', headers })
  socket.destroy()
  t.equal(proxy.received.join(''), 'CONNECT [2606:4700::1]:443 HTTP/1.1\r\nHost: [2606:4700::1]:443\r\n\r\n')
})

// Contract: `proxy`
t.test('egress proxy: requests a plain page from an HTTP proxy by full URL, without internal headers', async (t) => {
  const received: unknown[] = []
  await using proxy = await listening(
    createServer(async (request, response) => {
      received.push(request.method, request.url, request.rawHeaders, await text(request))
      response.writeHead(200, { 'x-page': 'yes', [proxyHeader]: 'x' }).end('page')
    }),
  )
  await using filter = await startFilter({ rules, resolver: unusedResolver })
  const answer = await askProxy({
    port: filter.port,
    line: 'POST http://user:pass@page.test:8080/a?b',
    headers: [...through(`http://u:pw@127.0.0.1:${proxy.port}`), `${captureHeader}: cap-1`, 'Content-Length: 4'],
    body: 'body',
  })
  const headers = ['Content-Length', '4', 'Connection', 'close', 'Proxy-Authorization', `Basic ${btoa('u:pw')}`]
  t.same(received, ['POST', 'http://page.test:8080/a?b', ['Host', 'page.test:8080', ...headers], 'body'])
  t.match(answer, { status: 200, body: 'page', headers: { 'x-page': 'yes', [proxyHeader]: undefined } })
})

// Contract: `proxy`
t.test('egress proxy: requests a plain page through a SOCKS5 connection to the name', async (t) => {
  const page = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage'
  await using proxy = await startScriptedProxy(...socksGranted, page)
  await using filter = await startFilter({ rules, resolver: unusedResolver })
  const headers = through(`socks5h://127.0.0.1:${proxy.port}`)
  const answer = await askProxy({ port: filter.port, line: 'GET http://page.test/a?b', headers })
  t.match(answer, { status: 200, body: 'page' })
  t.equal(proxy.received[1]?.toString('latin1'), '\x05\x01\0\x03\x09page.test\0P')
  t.equal(proxy.received[2]?.toString(), 'GET /a?b HTTP/1.1\r\nHost: page.test\r\nConnection: close\r\n\r\n')
})

const badProxies: readonly (readonly [string, 'http' | 'socks5', ...Reply[]])[] = [
  ['garbage', 'http', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ['another version of HTTP', 'http', 'HTTP/2 200\r\n\r\n'],
  ['half an answer', 'http', 'HTTP/1.1 200 O', null],
  ['half an answer and silence', 'http', 'HTTP/1.1 200 OK\r\n'],
  ['silence', 'http'],
  ['a hang-up', 'http', null],
  ['huge headers', 'http', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ['headers without end', 'http', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(200_000)}`],
  ['wrong credentials', 'http', 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n'],
  ['a failure', 'http', 'HTTP/1.1 502 Bad Gateway\r\n\r\n'],
  ['an interim answer', 'http', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['garbage', 'socks5', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ['half a choice', 'socks5', Buffer.of(5), null],
  ['silence', 'socks5'],
  ['a hang-up', 'socks5', null],
  ['no method', 'socks5', Buffer.of(5, 255)],
  ['wrong credentials', 'socks5', Buffer.of(5, 2), Buffer.of(1, 1)],
  ['half an answer', 'socks5', Buffer.of(5, 0), Buffer.of(5, 0, 0, 3, 255, 1, 2), null],
  ['half an answer and silence', 'socks5', Buffer.of(5, 0), Buffer.of(5, 0, 0, 3, 255, 1, 2)],
  ['a refusal', 'socks5', Buffer.of(5, 0), Buffer.of(5, 4, 0, 1, 0, 0, 0, 0, 0, 0)],
]

for (const [what, kind, ...replies] of badProxies) {
  t.test(`egress proxy: ${what} of a ${kind} proxy is a failed connection, never a direct one`, async (t) => {
    await using canary = await startCanary()
    await using proxy = await startScriptedProxy(...replies)
    await using filter = await startFilter({ rules, resolver: unusedResolver, connectMs: 300 })
    const headers = through(`${kind}://us3r:s3cret@127.0.0.1:${proxy.port}`)
    const answer = await askProxy({ port: filter.port, line: `CONNECT 127.0.0.1:${canary.port}`, headers })
    t.match(answer, { refusal: 'connection_failed', body: '' })
    await eventually(() => proxy.sockets.length === 1 && proxy.sockets[0]?.destroyed === true)
    t.equal(canary.connections(), 0)
    t.match(filter.events.find(({ name }) => name === 'refused')?.args, [
      { route: `${kind}_proxy`, proxy: '127.0.0.1' },
    ])
    t.notMatch(inspect(filter.events, { depth: null }), /us3r|s3cret/)
  })
}

/** An HTTP proxy that refuses tunnels with `status`, responds to plain requests, and records what it receives. */
const startRefusingProxy = async (status: number, page = 'page') => {
  const requests: { line: string; headers: readonly string[]; body: string }[] = []
  const server = createServer(async (request, response) => {
    requests.push({ line: `${request.method} ${request.url}`, headers: request.rawHeaders, body: await text(request) })
    if (request.url?.includes('cut')) response.destroy()
    else response.writeHead(200, { 'x-page': 'yes', 'x-shutterfleet-refusal': 'blocked' }).end(page)
  })
  server.on('connect', (request, socket) => {
    requests.push({ line: `CONNECT ${request.url}`, headers: request.rawHeaders, body: '' })
    socket.end(`HTTP/1.1 ${status} x\r\nContent-Length: 0\r\n\r\n`)
  })
  return { ...(await listening(server)), requests }
}

// Contract: `proxy`
t.test('egress proxy: plain requests pass a proxy without tunnels, always to the requested host', async (t) => {
  for (const status of [400, 403, 405, 501]) {
    await using proxy = await startRefusingProxy(status)
    await using filter = await startFilter({ rules, resolver: unusedResolver })
    const { status: answered, socket } = await askProxy({
      port: filter.port,
      line: 'CONNECT Page.test.:8080',
      headers: [...through(`http://u:pw@127.0.0.1:${proxy.port}`), `${captureHeader}: cap-1`],
    })
    t.equal(answered, 200)
    const forged = `Host: evil.test\r\n${proxyHeader}: http://evil.test:1\r\n${captureHeader}: forged\r\n`
    const own = `Proxy-Authorization: Basic eA==\r\nX-Kept: 1\r\n`
    socket.write(`GET /a?b HTTP/1.1\r\n${forged}${own}\r\n`)
    let answer = ''
    socket.resume()
    while (!answer.endsWith('0\r\n\r\n')) answer += String(((await once(socket, 'data')) as [Buffer])[0])
    t.match(answer, /^HTTP\/1\.1 200 OK\r\n(?!.*refusal)[^]*x-page: yes/)
    socket.write(`POST //evil.test/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody`)
    t.match(await text(socket), /^HTTP\/1\.1 200 OK/, 'the connection is kept')
    const credentials = ['Connection', 'close', 'Proxy-Authorization', `Basic ${btoa('u:pw')}`]
    t.same(proxy.requests.slice(1), [
      {
        line: 'GET http://page.test:8080/a?b',
        headers: ['Host', 'page.test:8080', 'X-Kept', '1', ...credentials],
        body: '',
      },
      {
        line: 'POST http://page.test:8080//evil.test/',
        headers: ['Host', 'page.test:8080', 'Content-Length', '4', ...credentials],
        body: 'body',
      },
    ])
    const recorded = filter.events.filter(({ name }) => name === 'opened' || name === 'ended')
    t.equal(recorded.length, 4)
    for (const { args } of recorded) t.match(args[0], { kind: 'request', capture: 'cap-1', host: 'page.test' })
  }
})

t.test('egress proxy: behind a proxy without tunnels, anything but a plain request for a path is cut', async (t) => {
  await using proxy = await startRefusingProxy(403)
  await using filter = await startFilter({ rules, resolver: unusedResolver })
  const headers = through(`http://127.0.0.1:${proxy.port}`)
  for (const bytes of [
    Buffer.from([0x16, 3, 1, 0, 100, ...Buffer.alloc(100)]),
    'GET http://10.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET @10.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n',
    'CONNECT 10.0.0.1:80 HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /cut HTTP/1.1\r\nHost: a\r\n\r\n',
  ]) {
    const { socket } = await askProxy({ port: filter.port, line: 'CONNECT page.test:80', headers })
    socket.write(bytes)
    t.equal(await text(socket).catch(() => ''), '', String(bytes))
  }
  t.same(new Set(proxy.requests.map(({ line }) => line)), new Set(['CONNECT page.test:80', 'GET http://page.test/cut']))
})

t.test('egress proxy: an idle client behind a proxy without tunnels is cut', async (t) => {
  await using proxy = await startRefusingProxy(403)
  await using filter = await startFilter({ rules, resolver: unusedResolver, idleMs: 200 })
  const headers = through(`http://127.0.0.1:${proxy.port}`)
  const { socket } = await askProxy({ port: filter.port, line: 'CONNECT page.test:80', headers })
  t.equal(await text(socket), '')
})

t.test('egress proxy: a proxy that refuses a tunnel to port 443 is a failed connection', async (t) => {
  await using proxy = await startRefusingProxy(403)
  await using filter = await startFilter({ rules, resolver: unusedResolver })
  const headers = through(`http://127.0.0.1:${proxy.port}`)
  const answer = await askProxy({ port: filter.port, line: 'CONNECT page.test:443', headers })
  t.match(answer, { status: 502, refusal: 'connection_failed' })
})

t.test('egress proxy: an error of the proxy itself is a failed connection; that of the page is not', async (t) => {
  const squid = { 'x-squid-error': 'ERR_DNS_FAIL 0' }
  for (const [status, marks, refusal] of [
    [407, {}, 'connection_failed'],
    [503, squid, 'connection_failed'],
    [503, {}, undefined],
    [404, {}, undefined],
  ] as const) {
    await using proxy = await listening(createServer((_, response) => void response.writeHead(status, marks).end('x')))
    await using filter = await startFilter({ rules, resolver: unusedResolver })
    const headers = through(`http://127.0.0.1:${proxy.port}`)
    const answer = await askProxy({ port: filter.port, line: 'GET http://page.test/', headers })
    t.match(answer, refusal === undefined ? { status } : { status: 502, refusal, body: '' }, `${status}`)
  }
})

t.test('egress proxy: a dead or unresolvable proxy is a failed connection, for tunnels and pages', async (t) => {
  const dead = await freePort()
  await using filter = await startFilter({ rules })
  for (const proxy of [`http://127.0.0.1:${dead}`, `socks5://127.0.0.1:${dead}`, 'http://p.test:3128']) {
    for (const line of ['CONNECT page.test:443', 'GET http://page.test/']) {
      const answer = await askProxy({ port: filter.port, line, headers: through(proxy) })
      t.match(answer, { status: 502, refusal: 'connection_failed' }, `${line} ${proxy}`)
    }
  }
})

// Contract: `proxy`
t.test('egress proxy: checks the address of a proxy as that of any target', async (t) => {
  for (const { id, input, expect, note } of ssrfCases('proxy')) {
    const { proxy = '', url = 'https://example.com/', dns = {} } = typeof input === 'string' ? { proxy: input } : input
    await using canary = await startCanary()
    const replies = proxy.startsWith('socks5') ? socksGranted : [established]
    await using open = await startScriptedProxy(...replies)
    const connect = internet({ public: open.port, canary: canary.port })
    await using filter = await startFilter({ connect, resolver: createResolver(dns) })
    const { hostname, port } = new URL(url)
    const line = `CONNECT ${hostname}:${port || (url.startsWith('https:') ? 443 : 80)}`
    const { refusal, status, socket } = await askProxy({ port: filter.port, line, headers: through(proxy) })
    socket.destroy()
    if (expect === 'allowed') t.equal(status, 200, `${id} ${note}`)
    else t.ok(refusal === 'blocked' || refusal === 'bad_request', `${id} ${note}: ${status} ${refusal}`)
    t.equal(open.received.length, expect === 'allowed' ? replies.length : 0)
    t.equal(canary.connections(), 0)
  }
})

t.test(
  'egress proxy: refuses a proxy that resolves to a private address, is denied, has a bad port or is this filter',
  async (t) => {
    await using canary = await startCanary()
    const deny = [parseCidr('9.9.9.9')].filter((block) => block !== undefined)
    const own = () => ({ addresses: new Set(['93.184.215.14']), networks: [parseCidr('93.184.215.0/24')!] })
    const dns = { 'mixed.test': { A: ['8.8.8.8', '10.0.0.1'] }, 'deny.test': { A: ['9.9.9.9'] } }
    await using filter = await startFilter({
      connect: internet({ public: canary.port, canary: canary.port }),
      rules: { ...targetRules('127.0.0.1'), deny, own },
      resolver: createResolver(dns),
    })
    const hosts = ['mixed.test:3128', 'deny.test:3128', '8.8.8.8:25', '93.184.215.15:3128', `127.0.0.1:${filter.port}`]
    for (const host of hosts) {
      for (const scheme of ['http', 'socks5']) {
        const headers = through(`${scheme}://${host}`)
        const answer = await askProxy({ port: filter.port, line: 'GET http://page.test/', headers })
        t.match(answer, { status: 403, refusal: 'blocked' }, `${scheme}://${host}`)
      }
    }
    t.equal(canary.connections(), 0)
  },
)

t.test('egress proxy: dials the checked address of the proxy, and cuts a proxy that is another peer', async (t) => {
  await using proxy = await startScriptedProxy(established)
  const dialled: string[] = []
  // Simulates wrong routing: the peer is loopback.
  const astray: Connect = ({ host }) => {
    dialled.push(host)
    return internet({ public: proxy.port, canary: proxy.port })({ host: '127.0.0.1', port: 1 })
  }
  await using filter = await startFilter({
    connect: astray,
    resolver: createResolver({ 'p.test': { A: ['8.8.8.8'] } }),
  })
  const answer = await askProxy({
    port: filter.port,
    line: 'CONNECT page.test:443',
    headers: through('http://p.test:1080'),
  })
  t.match(answer, { status: 403, refusal: 'blocked' })
  t.same(dialled, ['8.8.8.8'])
  t.same(proxy.received, [])
})

t.test('egress proxy: refuses private literals, local names and bad ports of pages behind any proxy', async (t) => {
  await using proxy = await startScriptedProxy(established)
  const own = targetRules(`127.0.0.1:${proxy.port}`)
  await using filter = await startFilter({ rules: own, resolver: unusedResolver })
  for (const host of ['127.0.0.1:80', '10.0.0.1:443', '[::1]:443', '0x7f.1:80', 'kubernetes:443', 'a.localhost:80']) {
    for (const line of [`CONNECT ${host}`, `GET http://${host}/`]) {
      for (const scheme of ['http', 'socks5']) {
        const headers = through(`${scheme}://127.0.0.1:${proxy.port}`)
        t.match(await askProxy({ port: filter.port, line, headers }), { status: 403, refusal: 'blocked' }, line)
      }
    }
  }
  const headers = through(`http://127.0.0.1:${proxy.port}`)
  t.equal((await askProxy({ port: filter.port, line: 'CONNECT page.test:25', headers })).refusal, 'blocked')
  t.same(proxy.sockets, [])
})

t.test('egress proxy: an unreadable proxy header is a bad request, never a direct connection', async (t) => {
  await using canary = await startCanary()
  await using filter = await startFilter({ rules })
  const proxies = [
    ['x'],
    [''],
    ['https://127.0.0.1:1'],
    ['http://us3r:s3cret@127.0.0.1'],
    ['http://a.b:1', 'http://a.b:1'],
  ]
  for (const values of proxies) {
    for (const line of [`CONNECT 127.0.0.1:${canary.port}`, `GET http://127.0.0.1:${canary.port}/`]) {
      const answer = await askProxy({ port: filter.port, line, headers: values.flatMap(through) })
      t.match(answer, { status: 400, refusal: 'bad_request' }, values.join(' and '))
    }
  }
  t.equal(canary.connections(), 0)
  t.notMatch(inspect(filter.events, { depth: null }), /us3r|s3cret/)
})

t.test('egress proxy: a client that disconnects during the handshake leaves no connection open', async (t) => {
  await using proxy = await startScriptedProxy()
  await using filter = await startFilter({ rules, connectMs: 1000 })
  const response = askProxy({
    port: filter.port,
    line: 'CONNECT page.test:443',
    headers: [...through(`http://127.0.0.1:${proxy.port}`)],
  })
  await eventually(() => proxy.received.length === 1)
  const drained = filter.drain(0)
  await Promise.all([drained, response])
  const [socket] = proxy.sockets
  if (socket && !socket.closed) await once(socket, 'close')
  t.ok(socket?.destroyed)
})

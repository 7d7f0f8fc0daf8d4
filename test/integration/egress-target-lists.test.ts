import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { readTargetLists, type TargetTexts } from '#shared/policy/target-lists.ts'
import { proxyHeader } from '#shared/net/callers-proxy.ts'
import { refusalHeader } from '#shared/net/refusal.ts'
import { targetsHeader, targetsHeaderValue } from '#shared/net/targets-header.ts'
import { captureWith, startTestEgress, startTestHost } from '#test/helpers/browser-host.ts'
import { createResolver, listening, startCanary, startFilter, targetRules } from '#test/helpers/egress-filter.ts'
import { askProxy } from '#test/helpers/proxy-client.ts'

/** All names lead to the same server of this machine, at several of its addresses. */
const names = {
  'page.test': { A: ['127.0.0.1'] },
  'www.page.test': { A: ['127.0.0.1'] },
  'ads.test': { A: ['127.0.0.1'] },
  'a.ads.test': { A: ['127.0.0.1'] },
  'badads.test': { A: ['127.0.0.1'] },
  'elsewhere.test': { A: ['127.0.0.9'] },
  'both.test': { A: ['127.0.0.1', '127.0.0.9'] },
}

/** A page that loads an image, and opens a WebSocket, from each of the hosts in its query, or redirects to one. */
const startSite = async () => {
  const requested: string[] = []
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://page')
    requested.push(`${request.headers.host?.split(':')[0]}${pathname}`)
    const at = (host: string) => `${host}:${request.socket.localPort}`
    if (pathname === '/to') response.writeHead(302, { location: `http://${at(searchParams.get('host') ?? '')}/` }).end()
    else if (pathname === '/image')
      response.setHeader('content-type', 'image/svg+xml').end('<svg xmlns="http://www.w3.org/2000/svg"/>')
    else {
      const parts = searchParams.getAll('host').map((host) => {
        const forged = `fetch('http://${at(host)}/forged', { mode: 'no-cors', headers: { '${targetsHeader}': '{}' } })`
        return `<img src="http://${at(host)}/image"><script>new WebSocket('ws://${at(host)}/socket');${forged}</script>`
      })
      response.setHeader('content-type', 'text/html').end(`<body>page${parts.join('')}`)
    }
  })
  server.on('upgrade', (request, socket) => {
    requested.push(`${request.headers.host?.split(':')[0]}/socket`)
    socket.destroy()
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  return {
    port: (server.address() as { port: number }).port,
    /** Hosts and paths requested since the last call, without the page itself. */
    takeRequested: () =>
      [
        ...new Set(requested.splice(0).filter((each) => !each.endsWith('/') && !each.endsWith('/favicon.ico'))),
      ].toSorted(),
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const from = (...hosts: readonly string[]) => `?${hosts.map((host) => `host=${host}`).join('&')}`
const everything = (host: string) => ['forged', 'image', 'socket'].map((name) => `${host}/${name}`)
const deny = (...entries: readonly string[]): TargetTexts => ({ allow: [], deny: entries })

// Contract: Targets of an account
t.test(
  'target lists: a page reaches no denied host, by image, WebSocket or fetch, whatever headers it sends',
  async (t) => {
    await using site = await startSite()
    await using egress = await startTestEgress('127.0.0.0/8', names)
    await using browser = await startTestHost(egress)
    const url = `http://page.test:${site.port}/${from('ads.test', 'a.ads.test', 'badads.test', 'www.page.test')}`
    t.match(await captureWith(browser, { url }), { outcome: 'completed' })
    const all = ['a.ads.test', 'ads.test', 'badads.test', 'www.page.test'].flatMap(everything)
    t.same(site.takeRequested(), all, 'without lists')

    t.match(await captureWith(browser, { url }, deny('ads.test', '*.ads.test')), { outcome: 'completed' })
    t.same(site.takeRequested(), ['badads.test', 'www.page.test'].flatMap(everything))
    const refusals = egress.events.filter(({ name }) => name === 'refused')
    t.ok(refusals.length >= 2)
    for (const { args } of refusals)
      t.match(args[1], { owner: 'account', message: /denied by the entry (\*\.)?ads\.test/ })

    const allowing = { allow: ['page.test', '*.page.test'], deny: [`www.page.test:${site.port}`] }
    t.match(await captureWith(browser, { url }, allowing), { outcome: 'completed' })
    t.same(site.takeRequested(), [], 'only what allow has, and deny wins')
  },
)

// Contract: Targets of an account
t.test('target lists: captures of two accounts one after the other on one host have their own lists', async (t) => {
  await using site = await startSite()
  await using egress = await startTestEgress('127.0.0.0/8', names)
  await using browser = await startTestHost(egress)
  const url = `http://page.test:${site.port}/${from('ads.test', 'badads.test')}`
  for (const [targets, reached] of [
    [deny('ads.test'), 'badads.test'],
    [deny('badads.test'), 'ads.test'],
    [deny('ads.test'), 'badads.test'],
  ] as const) {
    t.match(await captureWith(browser, { url }, targets), { outcome: 'completed' })
    t.same(site.takeRequested(), everything(reached))
  }
  t.match(await captureWith(browser, { url }), { outcome: 'completed' })
  t.same(site.takeRequested(), ['ads.test', 'badads.test'].flatMap(everything), 'none of an account without lists')
})

// Contract: Targets of an account
t.test('target lists: a page that is denied, or redirects to a denied host or address, is BLOCKED', async (t) => {
  await using site = await startSite()
  await using egress = await startTestEgress('127.0.0.0/8', names)
  await using browser = await startTestHost(egress)
  const at = (host: string) => `${host}:${site.port}`
  const blocked = (host: string) => ({
    outcome: 'failed',
    code: 'BLOCKED',
    blame: 'target',
    message: `The targets of the account do not allow connections to ${host}.`,
  })
  const cases: readonly (readonly [url: string, targets: TargetTexts, host: string])[] = [
    [`http://ADS.test.:${site.port}/`, deny('ads.test'), 'ads.test.'],
    [`http://${at('page.test')}/to?host=ads.test`, deny('ads.test'), 'ads.test'],
    [`http://${at('elsewhere.test')}/`, deny('127.0.0.8/29'), 'elsewhere.test'],
    [`http://${at('both.test')}/`, deny('127.0.0.9'), 'both.test'],
    [`http://${at('page.test')}/to?host=elsewhere.test`, deny('127.0.0.9'), 'elsewhere.test'],
    [`http://${at('127.0.0.9')}/`, deny('127.0.0.0/24'), '127.0.0.9'],
    [`http://${at('elsewhere.test')}/`, { allow: ['127.0.0.1'], deny: [] }, 'elsewhere.test'],
    [`http://${at('page.test')}/`, deny(`page.test:${site.port}`), 'page.test'],
  ]
  for (const [url, targets, host] of cases) t.match(await captureWith(browser, { url }, targets), blocked(host), url)
  const allowed = await captureWith(browser, { url: `http://${at('page.test')}/` }, { allow: ['127.0.0.1'], deny: [] })
  t.match(allowed, { outcome: 'completed' }, 'a name all of whose addresses are allowed')
})

// Contract: Targets of the installation
t.test("target lists: the installation's refuse for every account, and open nothing", async (t) => {
  await using site = await startSite()
  const lists = readTargetLists({ allow: ['*.test', '10.0.0.0/8'], deny: ['ads.test'] })
  await using egress = await startTestEgress('127.0.0.0/8', names, lists)
  await using browser = await startTestHost(egress)
  const open = (host: string, targets?: TargetTexts) =>
    captureWith(browser, { url: `http://${host}:${site.port}/` }, targets)
  t.match(await open('page.test'), { outcome: 'completed' })
  const everywhere = { allow: ['ads.test', '127.0.0.0/8'], deny: [] }
  t.match(await open('ads.test', everywhere), { code: 'BLOCKED', message: /operator.*SHUTTERFLEET_DENY_TARGETS/ })
  t.match(await open('127.0.0.1', everywhere), { code: 'BLOCKED', message: /SHUTTERFLEET_ONLY_TARGETS/ })
  t.match(await open('10.0.0.1', everywhere), { code: 'BLOCKED', message: /--allow-target/ }, 'private as before')
})

/** Sends a CONNECT as a client with the token would; resolves to the socket and the head of the response. */
const connectTo = async (port: number, target: string, targets: string | undefined) => {
  const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const header = targets === undefined ? '' : `${targetsHeader}: ${targets}\r\n`
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${header}\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer]
  return { socket, head: String(head) }
}

t.test(
  'target lists: egress refuses lists that it cannot read, and what is sent in a tunnel changes none',
  async (t) => {
    await using peer = await listening(
      createServer((request, response) => response.end(JSON.stringify(request.headers))),
    )
    const resolver = createResolver(names)
    await using filter = await startFilter({ rules: targetRules('127.0.0.0/8'), resolver })
    const target = `page.test:${peer.port}`
    for (const wrong of [
      '',
      '{}',
      '{"allow":[],"deny":["a..b"]}',
      '{"allow":[],"deny":[1]}',
      '[]',
      'null',
      'ads.test',
    ]) {
      const { socket, head } = await connectTo(filter.port, target, wrong)
      t.match(head, /^HTTP\/1\.1 400 .*x-shutterfleet-refusal: bad_request/s, `'${wrong}'`)
      socket.destroy()
    }
    const denied = targetsHeaderValue(deny('ads.test'))
    const { socket, head } = await connectTo(filter.port, target, denied)
    t.match(head, new RegExp(`^HTTP/1\\.1 200 .*${targetsHeader}: applied`, 's'))
    socket.end(
      `GET http://ads.test:${peer.port}/ HTTP/1.1\r\nHost: ads.test\r\n${targetsHeader}: {}\r\nConnection: close\r\n\r\n`,
    )
    t.match(await text(socket), /200 OK/, 'bytes of a tunnel go to its target alone')
    const refused = await connectTo(filter.port, `ads.test:${peer.port}`, denied)
    t.match(refused.head, /^HTTP\/1\.1 403 .*x-shutterfleet-refusal: denied_by_account/s)
    refused.socket.destroy()
  },
)

// Contract: Targets of an account
t.test("target lists: with a caller's proxy the page is checked by name, and the proxy like any target", async (t) => {
  await using proxy = await startCanary()
  await using filter = await startFilter({ rules: targetRules('127.0.0.0/8'), resolver: createResolver(names) })
  const request = (target: string, targets: TargetTexts, proxyHost = '127.0.0.1') =>
    askProxy({
      port: filter.port,
      line: `CONNECT ${target}:443`,
      headers: [
        `${proxyHeader}: http://${proxyHost}:${proxy.port}`,
        `${targetsHeader}: ${targetsHeaderValue(targets)}`,
      ],
    })
  const denied = { status: 403, headers: { [refusalHeader]: 'denied_by_account' } }
  t.match(await request('ads.test', deny('ads.test')), denied)
  t.match(await request('page.test', { allow: ['127.0.0.0/8'], deny: [] }), denied, 'the proxy resolves the name')
  t.match(await request('page.test', { allow: ['page.test'], deny: [] }), denied, 'the proxy is not allowed')
  t.match(await request('page.test', deny('127.0.0.9'), 'elsewhere.test'), denied, 'the address of the proxy is denied')
  t.equal(proxy.connections(), 0)
})

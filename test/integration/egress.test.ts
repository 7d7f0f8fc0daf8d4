import { createServer, type IncomingMessage } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import { once } from 'node:events'
import t from 'tap'
import { captureHeader, refusalHeader } from '#shared/net/refusal.ts'
import { parseCidr } from '#shared/policy/cidr.ts'
import { listening, createResolver, targetRules, startCanary, startFilter } from '#test/helpers/egress-filter.ts'
import { askProxy } from '#test/helpers/proxy-client.ts'

const startPage = async (
  answer: (request: IncomingMessage) => Promise<Record<string, string | string[]>> | Record<string, string | string[]>,
) =>
  listening(
    createServer(async (request, response) => {
      const headers = await answer(request)
      response.writeHead(200, headers).end('page')
    }),
  )

t.test('egress: reaches allowed targets by name and by address, plain and by CONNECT', async (t) => {
  await using page = await startPage(() => ({ 'x-page': 'yes' }))
  const resolver = createResolver({ 'intra.test': { A: ['127.0.0.1'] } })
  await using filter = await startFilter({ rules: targetRules(`intra.test 127.0.0.1:${page.port}`), resolver })
  for (const host of ['intra.test', 'INTRA.test.', '127.0.0.1', '2130706433']) {
    const plain = await askProxy({ port: filter.port, line: `GET http://${host}:${page.port}/a?b` })
    t.match(plain, { status: 200, body: 'page', headers: { 'x-page': 'yes' } }, host)
    const early = `GET /a HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    const tunnel = await askProxy({ port: filter.port, line: `CONNECT ${host}:${page.port}`, early })
    t.equal(tunnel.status, 200)
    t.match(
      await text(tunnel.socket),
      /x-page: yes[^]*page/,
      `${host}: bytes that follow CONNECT at once are passed on`,
    )
  }
})

t.test('egress: a name that is not allowed may resolve to an allowed address, on the allowed port', async (t) => {
  await using page = await startPage(() => ({}))
  const resolver = createResolver({ 'a.test': { A: ['127.0.0.1'] } })
  await using filter = await startFilter({ rules: targetRules(`127.0.0.1:${page.port}`), resolver })
  t.equal((await askProxy({ port: filter.port, line: `GET http://a.test:${page.port}/` })).status, 200)
  t.equal((await askProxy({ port: filter.port, line: 'GET http://a.test:81/' })).refusal, 'blocked')
})

t.test('egress: denied addresses are refused even if they are allowed', async (t) => {
  await using canary = await startCanary()
  const deny = [parseCidr('127.0.0.0/8')].filter((block) => block !== undefined)
  await using filter = await startFilter({ rules: { ...targetRules('127.0.0.1'), deny } })
  t.equal((await askProxy({ port: filter.port, line: `CONNECT 127.0.0.1:${canary.port}` })).refusal, 'blocked')
  t.equal(canary.connections(), 0)
})

t.test('egress: does not connect to itself', async (t) => {
  await using filter = await startFilter({
    rules: targetRules('127.0.0.0/8 localhost'),
    resolver: createResolver({ localhost: { A: ['127.0.0.1'] } }),
  })
  for (const host of ['127.0.0.1', '127.9.9.9', 'localhost']) {
    t.equal((await askProxy({ port: filter.port, line: `CONNECT ${host}:${filter.port}` })).refusal, 'blocked', host)
  }
})

t.test('egress: distinguishes the reasons why there is no connection', async (t) => {
  await using silent = await listening(createTcpServer((socket) => socket.destroy()))
  const closed = await listening(createTcpServer())
  await closed[Symbol.asyncDispose]()
  await using filter = await startFilter({ rules: targetRules('127.0.0.1') })
  const ask = async (line: string) => {
    const { status, refusal, body } = await askProxy({ port: filter.port, line })
    return { status, refusal, body }
  }
  t.same(await ask('CONNECT 10.0.0.1:443'), { status: 403, refusal: 'blocked', body: '' })
  t.same(await ask('CONNECT nowhere.test:443'), { status: 502, refusal: 'dns_failed', body: '' })
  t.same(await ask(`CONNECT 127.0.0.1:${closed.port}`), { status: 502, refusal: 'connection_failed', body: '' })
  t.same(await ask(`GET http://127.0.0.1:${closed.port}/`), { status: 502, refusal: 'connection_failed', body: '' })
  t.same(await ask(`GET http://127.0.0.1:${silent.port}/`), { status: 502, refusal: 'connection_failed', body: '' })
  for (const line of [
    'GET /path',
    'GET https://example.com/',
    'GET ftp://example.com/',
    'CONNECT example.com',
    'CONNECT a@example.com:443',
    'CONNECT example.com:70000',
  ]) {
    t.same(await ask(line), { status: 400, refusal: 'bad_request', body: '' }, line)
  }
})

t.test('egress: a target that switches protocols unasked is dropped at once', async (t) => {
  const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
  await using target = await listening(createTcpServer((socket) => void socket.on('error', () => {}).write(switching)))
  await using filter = await startFilter({ rules: targetRules('127.0.0.1') })
  const { status, refusal } = await askProxy({ port: filter.port, line: `GET http://127.0.0.1:${target.port}/` })
  t.same({ status, refusal }, { status: 502, refusal: 'connection_failed' })
})

t.test('egress: removes hop-by-hop headers and its own in both directions, and sets Host itself', async (t) => {
  const received: string[][] = []
  await using page = await startPage((request) => {
    received.push(request.rawHeaders)
    return {
      [refusalHeader]: 'blocked',
      connection: 'x-private-hop',
      'x-private-hop': '1',
      'proxy-authenticate': 'Basic',
      'set-cookie': ['a=1', 'b=2'],
    }
  })
  await using filter = await startFilter({ rules: targetRules('127.0.0.1') })
  const headers = [
    `${captureHeader}: cap-1`,
    `${refusalHeader}: blocked`,
    'Proxy-Authorization: Basic eA==',
    'Proxy-Connection: keep-alive',
  ]
  const more = [
    'X-Hop: 1',
    'Connection: X-Hop',
    'Upgrade: websocket',
    'TE: trailers',
    'X-Kept: 1',
    'X-Kept: 2',
    'Host: 10.0.0.1',
  ]
  const answer = await askProxy({
    port: filter.port,
    line: `GET http://user:pass@127.0.0.1:${page.port}/`,
    headers: [...headers, ...more],
  })
  t.same(received, [['Host', `127.0.0.1:${page.port}`, 'X-Kept', '1', 'X-Kept', '2', 'Connection', 'close']])
  t.equal(answer.refusal, undefined)
  t.equal(answer.headers['x-private-hop'], undefined)
  t.equal(answer.headers['proxy-authenticate'], undefined)
  t.equal(answer.headers['set-cookie'], 'a=1, b=2')
})

t.test('egress: passes bodies on in both directions, with a length and without', async (t) => {
  await using echo = await listening(
    createServer(async (request, response) => void response.end(`${request.method} ${await text(request)}`)),
  )
  await using filter = await startFilter({ rules: targetRules('127.0.0.1') })
  const line = `POST http://127.0.0.1:${echo.port}/`
  const sized = await askProxy({ port: filter.port, line, headers: ['Content-Length: 5'], body: 'hello' })
  t.match(sized, { status: 200, headers: { 'content-length': '10' }, body: 'POST hello' })
  const chunked = ['Transfer-Encoding: chunked']
  t.match(
    (await askProxy({ port: filter.port, line, headers: chunked, body: '5\r\nhello\r\n0\r\n\r\n' })).body,
    'POST hello',
  )
  const get = `GET http://127.0.0.1:${echo.port}/`
  t.match(
    (await askProxy({ port: filter.port, line: get, headers: chunked, body: '5\r\nhello\r\n0\r\n\r\n' })).body,
    'GET hello',
  )
})

t.test('egress: reports no more of a target than its host', async (t) => {
  await using page = await startPage(() => ({}))
  await using filter = await startFilter({ rules: targetRules('127.0.0.1') })
  const line = `GET http://user:s3cret@127.0.0.1:${page.port}/p4th?qu3ry`
  await askProxy({ port: filter.port, line, headers: [`${captureHeader}: cap-1`] })
  await askProxy({ port: filter.port, line: 'GET http://user:s3cret@10.0.0.1/p4th?qu3ry' })
  await askProxy({ port: filter.port, line: 'GET https://user:s3cret@10.0.0.1/p4th?qu3ry' })
  const recorded = inspect(filter.events, { depth: null })
  t.notMatch(recorded, /s3cret|p4th|qu3ry/)
  t.match(filter.events, [
    { name: 'clientConnected' },
    { name: 'opened', args: [{ host: '127.0.0.1', capture: 'cap-1' }] },
  ])
})

t.test('egress: passes the end of either side of a tunnel on to the other', async (t) => {
  const server = createTcpServer({ allowHalfOpen: true }, async (socket) => {
    socket.end(`received ${await text(socket)}`)
  })
  await using late = await listening(server)
  await using filter = await startFilter({ rules: targetRules('127.0.0.1') })
  const { socket } = await askProxy({ port: filter.port, line: `CONNECT 127.0.0.1:${late.port}` })
  socket.end('all')
  t.equal(await text(socket), 'received all')
  if (!socket.closed) await once(socket, 'close')
  const ended = filter.events.find(({ name }) => name === 'ended')
  t.match(ended?.args, [{ kind: 'tunnel' }, { end: 'closed', bytes: 15 }])
})

t.test('egress: serves only clients with one of its tokens, and passes no token on', async (t) => {
  const received: string[][] = []
  await using page = await startPage((request) => {
    received.push(request.rawHeaders)
    return {}
  })
  await using filter = await startFilter({ rules: targetRules('127.0.0.1'), tokens: ['token-a', 'token-b'] })
  const lines = [`GET http://127.0.0.1:${page.port}/`, `CONNECT 127.0.0.1:${page.port}`]
  for (const line of lines) {
    for (const headers of [[], ['Proxy-Authorization: Bearer token-c'], ['Proxy-Authorization: Basic token-a']]) {
      const refused = await askProxy({ port: filter.port, line, headers })
      t.match(refused, { status: 407, refusal: 'unavailable', headers: { 'proxy-authenticate': 'Bearer' }, body: '' })
    }
    t.equal(received.length, 0)
    for (const token of ['token-a', 'token-b']) {
      const headers = [`Proxy-Authorization: Bearer ${token}`, 'Proxy-Authorization: Bearer token-c']
      const { status, socket } = await askProxy({ port: filter.port, line, headers })
      t.equal(status, 200, 'the first header counts')
      socket.destroy()
    }
    for (const names of received.splice(0)) t.notOk(names.includes('Proxy-Authorization'))
  }
  t.equal(filter.events.filter(({ name }) => name === 'unauthorized').length, 6)
})

t.test('egress: requires the token for every request of a connection', async (t) => {
  await using page = await startPage(() => ({}))
  await using filter = await startFilter({ rules: targetRules('127.0.0.1'), tokens: ['token-a'] })
  const client = connect({ port: filter.port, host: '127.0.0.1' })
  const request = (token: string) => `GET http://127.0.0.1:${page.port}/ HTTP/1.1\r\nHost: a\r\n${token}\r\n`
  client.write(request('Proxy-Authorization: Bearer token-a\r\n'))
  let answer = ''
  while (!answer.endsWith('0\r\n\r\n')) answer += String(((await once(client, 'data')) as [Buffer])[0])
  client.write(request(''))
  t.match(await text(client), /^HTTP\/1\.1 407 /)
})

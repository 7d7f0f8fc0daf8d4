import t, { type Test } from 'tap'
import { createApp } from '#gateway/app.ts'
import { createClients } from '#gateway/http/identification/clients.ts'
import { createLinks, verifyLink, readLink, signLink } from '#gateway/links/links.ts'
import { parseCidr } from '#shared/policy/cidr.ts'
import {
  completedCapture,
  createTestContext,
  pendingCapture,
  testImage,
  testKey,
} from '#test/helpers/gateway-context.ts'
import { namedKey } from '#test/helpers/named-key.ts'

const { id } = completedCapture
const key = namedKey('test', 2)
const soon = Date.parse('2026-06-01T12:35:00Z') / 1000
const link = signLink(key, id, soon)

const start = (
  t: Test,
  limits = { linkRequestsBurst: 100, linkRequestsPerMinute: 6 },
  trustedProxies: string[] = [],
) => {
  const context = createTestContext()
  const links = createLinks({ ...limits, linkSigningKeys: [key] })
  const trusted = trustedProxies.map((block) => parseCidr(block)!)
  const clients = createClients({ trustedProxies: trusted, ignored: () => {} })
  const app = createApp({ ...context, clients, links })
  t.teardown(() => app.close())
  const ask = (query = link, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({ method, url: `/v1/screenshots/${id}/image?${query}`, headers })
  const errorCode = async (query?: string, headers?: Record<string, string>) => {
    const answer = await ask(query, headers)
    return [answer.statusCode, answer.statusCode < 400 ? undefined : answer.json().error.code]
  }
  return { context, ask, errorCode }
}

// Contract: Signed URL form
t.test('links: a link serves the image without a key and costs the account nothing', async (t) => {
  const { context, ask } = start(t)
  const answer = await ask(link, { host: 'evil.example', 'x-forwarded-host': 'evil.example' })
  t.same([answer.statusCode, answer.rawPayload], [200, testImage])
  t.match(answer.headers, {
    'cache-control': /^private/,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'cross-origin',
  })
  t.notOk(answer.headers['x-ratelimit-limit'])
  t.equal(context.calls.checks, 0, 'the minute limit is not charged')
  const head = await ask(link, {}, 'HEAD')
  t.same([head.statusCode, head.headers['content-length']], [200, String(testImage.length)])
  t.equal((await ask(`v=2&${link}`)).statusCode, 200, 'other parameters are ignored')
  t.equal((await ask(link, { range: 'bytes=0-3' })).statusCode, 206)
})

// Contract: Signed URL errors
t.test('links: errors have the codes of the API, without the cause of a failure', async (t) => {
  const { context, ask, errorCode } = start(t)
  t.same(await errorCode(link.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))), [403, 'INVALID_SIGNATURE'])
  t.same(await errorCode(signLink(key, id, soon - 60)), [403, 'SIGNATURE_EXPIRED'])
  context.answers.find = () => pendingCapture
  t.same(await errorCode(), [404, 'NOT_READY'])
  context.answers.find = () => ({ ...pendingCapture, status: 'failed', error: { code: 'TIMEOUT', message: 'slow' } })
  t.same(await errorCode(), [404, 'NOT_READY'])
  const answers = { link: await ask(), key: await ask('', { authorization: `Bearer ${testKey}` }) }
  t.match(answers.key.json().error.message, /TIMEOUT slow/)
  t.notMatch(answers.link.body, /TIMEOUT|slow|failed/, 'only the account sees the cause of a failure')
  context.answers.find = () => ({ ...completedCapture, expiresAt: '2026-01-01T00:00:00.000000Z' })
  t.same(await errorCode(signLink(key, id, undefined)), [410, 'EXPIRED'], 'permanent links too')
  context.answers.find = () => undefined
  t.same(await errorCode(), [404, 'NOT_FOUND'])
})

// Contract: Signed URL errors
t.test('links: a request without key and signature is 401; a key takes precedence over a signature', async (t) => {
  const { context, errorCode } = start(t)
  t.same(await errorCode(''), [401, 'INVALID_API_KEY'])
  t.same(await errorCode(`expires=${soon}&kid=test`), [401, 'INVALID_API_KEY'])
  t.same(await errorCode(link, { authorization: 'Bearer nobody' }), [401, 'INVALID_API_KEY'])
  t.same(await errorCode('signature=x', { authorization: `Bearer ${testKey}` }), [200, undefined])
  t.equal(context.calls.checks, 1)
})

t.test('links: rejects a too large head before the signature is checked', async (t) => {
  const { errorCode } = start(t)
  t.same(await errorCode(`${link}&v=${'0'.repeat(64 * 1024)}`), [414, 'URI_TOO_LONG'])
  t.same(await errorCode(`signature=${'0'.repeat(64 * 1024)}`), [414, 'URI_TOO_LONG'])
  t.same(await errorCode(`${link}&v=${'0'.repeat(48 * 1024)}`), [200, undefined])
})

t.test('links: a link works for no other operation', async (t) => {
  const context = createTestContext()
  const app = createApp(context)
  t.teardown(() => app.close())
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/signed-url'],
  ] as const) {
    t.equal((await app.inject({ method, url: `/v1/screenshots/${id}${path}?${link}` })).statusCode, 401, method)
  }
})

// Contract: Signed URL form
t.test('links: each client address has a limit, whatever its X-Forwarded-For', async (t) => {
  const { ask } = start(t, { linkRequestsBurst: 1, linkRequestsPerMinute: 6 })
  t.equal((await ask(link, { 'x-forwarded-for': '203.0.113.1' })).statusCode, 200)
  const refused = await ask(link, { 'x-forwarded-for': '203.0.113.2' })
  t.same([refused.statusCode, refused.headers['retry-after']], [429, '10'])
  t.match(refused.json(), { error: { code: 'RATE_LIMIT_EXCEEDED', retry_after: 10, status: 429 } })
})

t.test('links: only links with a valid signature count against the limit of a client', async (t) => {
  const { errorCode } = start(t, { linkRequestsBurst: 1, linkRequestsPerMinute: 6 })
  const invalid = ['signature=x', `${link}0`, link.replace('kid=test', 'kid=other'), signLink(key, id, soon - 60)]
  for (const query of [...invalid, ...invalid]) t.match(await errorCode(query), [403])
  t.same(await errorCode(link), [200, undefined])
  t.same(await errorCode(link), [429, 'RATE_LIMIT_EXCEEDED'])
  t.match(await errorCode('signature=x'), [403], 'invalid signatures are still rejected as such')
})

t.test('links: clients behind a trusted proxy are limited separately', async (t) => {
  const { errorCode } = start(t, { linkRequestsBurst: 1, linkRequestsPerMinute: 6 }, ['127.0.0.0/8'])
  t.same(await errorCode(link, { 'x-forwarded-for': '203.0.113.1' }), [200, undefined])
  t.same(await errorCode(link, { 'x-forwarded-for': '203.0.113.2' }), [200, undefined])
  t.same(await errorCode(link, { 'x-forwarded-for': '198.51.100.1, 203.0.113.1' }), [429, 'RATE_LIMIT_EXCEEDED'])
})

const [first, second] = [namedKey('new', 1), namedKey('old', 2)]
const now = new Date('2026-06-01T12:00:00Z')
const inAMinute = now.getTime() / 1000 + 60
const judge = (query: string, { keys = [first, second], of = id, at = now } = {}) => {
  const read = readLink(query)
  return read && verifyLink(keys, of, read, at)
}

// Contract: Signed URL form
t.test('links: a link has the documented form, and is valid until it expires', async (t) => {
  const query = signLink(first, id, inAMinute)
  t.match(query, new RegExp(`^expires=${inAMinute}&kid=new&signature=[0-9a-f]{64}$`))
  t.equal(judge(query), 'good')
  t.equal(judge(query, { at: new Date(inAMinute * 1000 - 1) }), 'good')
  t.equal(judge(query, { at: new Date(inAMinute * 1000) }), 'expired')
})

// Contract: Signed URL form
t.test('links: a permanent link has no expiry and stays valid', async (t) => {
  const query = signLink(first, id, undefined)
  t.match(query, /^kid=new&signature=[0-9a-f]{64}$/)
  t.equal(judge(query, { at: new Date('9999-01-01') }), 'good')
})

// Contract: Signed URL form
t.test('links: accepts every key of the list, and rejects links of a removed key', async (t) => {
  const query = signLink(second, id, inAMinute)
  t.equal(judge(query), 'good')
  t.equal(judge(query, { keys: [first] }), 'forged')
})

// Contract: Signed URL form
t.test('links: no part of a link can be changed', async (t) => {
  const query = signLink(first, id, inAMinute)
  const permanent = signLink(first, id, undefined)
  const forged = {
    'another capture': judge(query, { of: id.replace('2', '3') }),
    'a later time': judge(query.replace(String(inAMinute), String(inAMinute + 1))),
    'no time': judge(query.replace(/expires=\d+&/, '')),
    'a time for a permanent one': judge(`expires=${inAMinute}&${permanent}`),
    'an empty time': judge(`expires=&${permanent}`),
    'another key': judge(query.replace('kid=new', 'kid=old')),
    'no key': judge(query.replace('kid=new&', '')),
    'another spelling of the time': judge(query.replace(String(inAMinute), `0${inAMinute}`)),
    'a signature in capitals': judge(
      query.replace(/signature=(.*)/, (_, hex: string) => `signature=${hex.toUpperCase()}`),
    ),
    'a short signature': judge(query.slice(0, -1)),
    'no signature': judge(query.replace(/signature=.*/, 'signature=')),
    'two signatures': judge(`${query}&signature=${'0'.repeat(64)}`),
    'two times': judge(`${query}&expires=${inAMinute + 1}`),
    'another spelling of a name': judge(query.replace('signature', 'sign%61ture')),
    'a second name in another spelling': judge(`${query}&%6bid=new`),
    'a time with an encoded digit': judge(query.replace(/expires=(.)/, (_, digit: string) => `expires=%3${digit}`)),
    'a key with an encoded letter': judge(query.replace('kid=new', 'kid=%6eew')),
    'a question mark before it': judge(`?${query}`),
    'one digit': judge(query.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))),
  }
  for (const [name, verdict] of Object.entries(forged)) t.equal(verdict, 'forged', name)
})

t.test('links: a query without a signature is not a link; its other parameters are ignored', async (t) => {
  t.equal(readLink(`expires=${inAMinute}&kid=new`), undefined)
  t.equal(judge(`v=1&${signLink(first, id, inAMinute)}&utm_source=x`), 'good')
})

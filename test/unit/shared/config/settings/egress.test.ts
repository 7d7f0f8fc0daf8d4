import t from 'tap'
import { egressSettings, egressToken } from '#shared/config/settings/egress.ts'

const { egressTokens, internalDomains, nat64Prefixes, upstreamProxy } = egressSettings
const token = 'aZ09._~+/=-aaaaa'

t.test('EGRESS_INTERNAL_DOMAINS: accepts domains in any spelling, and resolv.conf', async (t) => {
  const read = internalDomains.parse('resolv.conf, Corp.Example.com. eu.example')
  t.same(read, { ok: true, value: ['resolv.conf', 'corp.example.com', 'eu.example'] })
  t.same(internalDomains.parse(''), { ok: true, value: [] })
})

t.test('EGRESS_INTERNAL_DOMAINS: names the entry that is not a domain', async (t) => {
  for (const entry of ['10.0.0.1', '[::1]', 'a..b', 'http://a.test', '.corp']) {
    t.match(internalDomains.parse(`a.test,${entry}`), { ok: false, problem: `'${entry}' is not a domain` }, entry)
  }
})

t.test('EGRESS_NAT64_PREFIXES: is discover, or prefixes of the lengths of RFC 6052', async (t) => {
  t.same(nat64Prefixes.parse('discover'), { ok: true, value: undefined })
  t.same(nat64Prefixes.parse(''), { ok: true, value: [] })
  const read = nat64Prefixes.parse('64:ff9b::/96, 2a00:1::/32 2a00:2::/40,2a00:3::/48,2a00:4::/56,2a00:5::/64')
  t.ok(read.ok)
  t.same(read.ok && read.value?.map(([, bits]) => bits), [96, 32, 40, 48, 56, 64])
  for (const text of ['64:ff9b::/97', '64:ff9b::', '10.0.0.0/32', 'a.test', 'discover, 64:ff9b::/96']) {
    t.match(nat64Prefixes.parse(text), { ok: false, problem: /must be 'discover' or IPv6 prefixes/ }, text)
  }
})

t.test('EGRESS_TOKENS and EGRESS_TOKEN: are empty, or 16 to 256 characters that are valid in a header', async (t) => {
  t.same(egressTokens.parse(`${token},${token}b`), { ok: true, value: [token, `${token}b`] })
  t.same(egressTokens.parse(''), { ok: true, value: [] })
  for (const value of ['', token, 'a'.repeat(256)]) t.same(egressToken.parse(value), { ok: true, value })
  for (const text of ['a'.repeat(15), 'a'.repeat(257), `${token}"`, `${token}:b`, `${token}\u00e9`]) {
    t.match(egressTokens.parse(`${token},${text}`), { ok: false, problem: /each must be 16 to 256 of/ }, text)
    t.match(egressToken.parse(text), { ok: false, problem: /must be 16 to 256 of/ }, text)
  }
  t.ok(egressTokens.secret && egressToken.secret)
})

t.test('EGRESS_UPSTREAM_PROXY: is empty, or an HTTP proxy with a port, whose credentials are decoded', async (t) => {
  t.same(upstreamProxy.parse(''), { ok: true, value: undefined })
  const proxy = { host: 'proxy.test', port: 3128, credentials: undefined }
  t.same(upstreamProxy.parse('http://Proxy.test:3128'), { ok: true, value: proxy })
  const credentials = { user: 'us@r', password: 'p:w' }
  t.same(upstreamProxy.parse('http://us%40r:p%3Aw@proxy.test:3128/'), { ok: true, value: { ...proxy, credentials } })
  for (const value of ['https://p.test:1', 'p.test:1', 'http://p.test:1/path', 'http://u%zz@p.test:1', 'http://']) {
    t.match(upstreamProxy.parse(value), { ok: false, problem: /must be http:/ }, value)
  }
  t.ok(upstreamProxy.secret)
})

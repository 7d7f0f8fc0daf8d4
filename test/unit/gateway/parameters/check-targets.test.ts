import t from 'tap'
import { checkProxy } from '#gateway/parameters/check-targets.ts'
import { parseCallersProxy, proxyHeaderValue } from '#shared/net/callers-proxy.ts'

/** The problem that is reported for a proxy; undefined if it is valid. */
const problemOf = (proxy: string): string | undefined => {
  const problems: string[] = []
  checkProxy(proxy, { allow: [] }, (field, problem) => problems.push(`${field} ${problem}`))
  return problems[0]
}

const needsHostAndPort = 'proxy must have a host and a port, and no path or query'
const badCredentialEncoding = 'proxy credentials must be percent-encoded UTF-8'
const credentialsTooLong = 'proxy user and password of a SOCKS proxy must have at most 255 bytes each'
const unsupportedScheme = 'proxy must be an absolute http or socks5 or socks5h address'

// Contract: `proxy`
t.test(
  'check proxy: requires a supported scheme, host, allowed port, public address and valid credentials',
  async (t) => {
    for (const [proxy, problem] of [
      ['https://p.example.com:3128', unsupportedScheme],
      ['p.example.com:3128', unsupportedScheme],
      ['http://p.example.com', needsHostAndPort],
      ['http://p.example.com:3128/path', needsHostAndPort],
      ['http://p.example.com:3128?x=1', needsHostAndPort],
      ['http://p.example.com:3128#x', needsHostAndPort],
      ['http://a@b@p.example.com:3128', needsHostAndPort],
      ['socks5://a\\b@p.example.com:3128', needsHostAndPort],
      ['http://p.example.com\\x:3128', needsHostAndPort],
      ['http://p.example.com:22', 'proxy port 22 is not allowed'],
      [
        'socks5://127.0.0.1:1080',
        'proxy must be a public http or socks5 or socks5h address; the operator can allow it with --allow-target 127.0.0.1:1080',
      ],
      ['http://%ff:x@p.example.com:3128', badCredentialEncoding],
      ['socks5://x:%zz@p.example.com:3128', badCredentialEncoding],
      [`socks5://${'a'.repeat(256)}@p.example.com:1080`, credentialsTooLong],
      [`socks5h://a:${'%C3%A9'.repeat(128)}@p.example.com:1080`, credentialsTooLong],
    ] as const) {
      t.equal(problemOf(proxy), problem, proxy)
    }
  },
)

// Contract: `proxy`
t.test('check proxy: accepts exactly the proxies that egress can read', async (t) => {
  const schemes = ['http://', 'HTTP://', 'socks5://', 'socks5h://', 'http:/', 'http:', ' http://']
  const users = [
    '',
    '@',
    ':@',
    'u@',
    'u:@',
    ':p@',
    'u:p:q@',
    'ü:p€ %2F@',
    'u\\v@',
    'u@v@',
    '%zz@',
    'u/v@',
    'u[@',
    '%00@',
  ]
  const names = ['p.example.com', 'P.Example.com.', 'bücher.example', 'a..b.com', 'a\\b.com']
  const hosts = [...names, '93.184.216.34', '0x5db8d822', '[2606:4700::1]']
  const ends = [':3128', ':80', ':00080', ':80/', ':80//', ':80 ', ':65536', ':', '', ':80\\']
  const all = schemes.flatMap((scheme) =>
    users.flatMap((user) => hosts.flatMap((host) => ends.map((end) => scheme + user + host + end))),
  )
  const accepted = all.filter((proxy) => problemOf(proxy) === undefined)
  t.ok(accepted.length > 500, `${accepted.length} are accepted`)
  t.same(
    accepted.filter((proxy) => !parseCallersProxy(proxyHeaderValue(proxy))),
    [],
  )
  const longest = `socks5://${'a'.repeat(255)}:${'%C3%A9'.repeat(127)}b@p.example.com:1080`
  t.equal(problemOf(longest), undefined)
  t.match(parseCallersProxy(proxyHeaderValue(longest)), { credentials: { user: /a{255}/ } })
  t.equal(problemOf(`http://${'a'.repeat(1000)}@p.example.com:80`), undefined, 'HTTP has no such bound')
})

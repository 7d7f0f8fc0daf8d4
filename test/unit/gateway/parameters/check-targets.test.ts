import t from 'tap'
import { checkProxy } from '#gateway/parameters/check-targets.ts'
import { parseCallersProxy, proxyHeaderValue } from '#shared/net/callers-proxy.ts'

/** The problem that is reported for a proxy; undefined if it is valid. */
const problemOf = (proxy: string): string | undefined => {
  const problems: string[] = []
  checkProxy(proxy, [], (field, problem) => problems.push(`${field} ${problem}`))
  return problems[0]
}

const shape = 'proxy must have a host and a port, and no path or query'
const text = 'proxy credentials must be percent-encoded UTF-8'
const bound = 'proxy user and password of a SOCKS proxy must have at most 255 bytes each'
const kind = 'proxy must be an absolute http or socks5 or socks5h address'

// Contract: `proxy`
t.test('check proxy: reports what is wrong with a proxy', async (t) => {
  for (const [proxy, problem] of [
    ['https://p.example.com:3128', kind],
    ['p.example.com:3128', kind],
    ['http://p.example.com', shape],
    ['http://p.example.com:3128/path', shape],
    ['http://p.example.com:3128?x=1', shape],
    ['http://p.example.com:3128#x', shape],
    ['http://a@b@p.example.com:3128', shape],
    ['socks5://a\\b@p.example.com:3128', shape],
    ['http://p.example.com\\x:3128', shape],
    ['http://p.example.com:22', 'proxy port 22 is not allowed'],
    [
      'socks5://127.0.0.1:1080',
      'proxy must be a public http or socks5 or socks5h address; the operator can allow it with --allow-target 127.0.0.1:1080',
    ],
    ['http://%ff:x@p.example.com:3128', text],
    ['socks5://x:%zz@p.example.com:3128', text],
    [`socks5://${'a'.repeat(256)}@p.example.com:1080`, bound],
    [`socks5h://a:${'%C3%A9'.repeat(128)}@p.example.com:1080`, bound],
  ] as const) {
    t.equal(problemOf(proxy), problem, proxy)
  }
})

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
  const taken = all.filter((proxy) => problemOf(proxy) === undefined)
  t.ok(taken.length > 500, `${taken.length} are accepted`)
  t.same(
    taken.filter((proxy) => !parseCallersProxy(proxyHeaderValue(proxy))),
    [],
  )
  const longest = `socks5://${'a'.repeat(255)}:${'%C3%A9'.repeat(127)}b@p.example.com:1080`
  t.equal(problemOf(longest), undefined)
  t.match(parseCallersProxy(proxyHeaderValue(longest)), { credentials: { user: /a{255}/ } })
  t.equal(problemOf(`http://${'a'.repeat(1000)}@p.example.com:80`), undefined, 'HTTP has no such bound')
})

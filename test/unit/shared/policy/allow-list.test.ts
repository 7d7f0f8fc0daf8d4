import t from 'tap'
import { allowsAddress, allowsHost, type AllowTarget, parseAllowList } from '#shared/policy/allow-list.ts'

const listOf = (list: string | readonly string[]): readonly AllowTarget[] => {
  const parsed = parseAllowList(list)
  if (!parsed.ok) throw new Error(parsed.problem)
  return parsed.value
}

t.test('allow list: allows a host on every port, or on the given one', async (t) => {
  const list = listOf('Grafana.Internal, intra.example.com:8443\n single')
  t.ok(allowsHost(list, 'grafana.internal', 80))
  t.ok(allowsHost(list, 'intra.example.com', 8443))
  t.notOk(allowsHost(list, 'intra.example.com', 443))
  t.ok(allowsHost(list, 'single', 9999))
  t.notOk(allowsHost(list, 'a.grafana.internal', 80), 'subdomains are not included')
})

t.test('allow list: allows addresses and CIDR blocks of both families', async (t) => {
  const list = listOf(['127.0.0.1:8000', '10.1.0.0/16', '[::1]:8000', 'fd00::/8', '192.168.1.1'])
  for (const [ip, port] of [
    ['127.0.0.1', 8000],
    ['10.1.255.255', 1],
    ['::1', 8000],
    ['fd12::1', 443],
    ['192.168.1.1', 5],
  ] as const) {
    t.ok(allowsAddress(list, ip, port), `${ip} ${port}`)
    t.ok(allowsHost(list, ip, port), `${ip} ${port} as a literal`)
  }
  for (const [ip, port] of [
    ['127.0.0.1', 8001],
    ['10.2.0.0', 1],
    ['::1', 1],
    ['fc00::1', 443],
    ['::ffff:7f00:1', 8000],
  ] as const) {
    t.notOk(allowsAddress(list, ip, port), `${ip} ${port}`)
  }
})

t.test('allow list: a CIDR block allows no host name, and a host name allows no address', async (t) => {
  const list = listOf(['0.0.0.0/0', 'a.test'])
  t.notOk(allowsHost(list, 'b.test', 80))
  t.notOk(allowsAddress(listOf(['a.test']), '127.0.0.1', 80))
})

t.test('allow list: an empty list allows nothing', async (t) => {
  t.strictSame(listOf(''), [])
  t.notOk(allowsHost([], 'a.test', 80))
  t.notOk(allowsAddress([], '127.0.0.1', 80))
})

t.test('allow list: names the first invalid entry', async (t) => {
  const entries = ['http://a.test', 'a.test:0', 'a.test:65536', 'a.test:', '10.0.0.0/33', 'fe80::/129', '10.0.0.0/8/8']
  for (const entry of [...entries, '[::1', '::1]:80', '*.example.com', 'a..test', 'a@b', '256.1.1.1', ':80', 'a b']) {
    const parsed = parseAllowList(['fine.test', entry])
    t.match(parsed, { ok: false, problem: `'${entry}' is not a host, host:port,` }, entry)
  }
})

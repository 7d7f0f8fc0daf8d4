import t from 'tap'
import { parseCallersProxy, proxyHeaderValue } from '#shared/net/callers-proxy.ts'

t.test('callers proxy: reads scheme, host, port and decoded credentials', async (t) => {
  const none = undefined
  for (const [value, kind, host, port, credentials] of [
    ['http://Proxy.Example.:80', 'http', 'proxy.example', 80, none],
    ['HTTP://1.1.1.1:3128/', 'http', '1.1.1.1', 3128, none],
    ['socks5://0x08.8.8.8:1080', 'socks5', '8.8.8.8', 1080, none],
    ['socks5h://[2606:4700::1]:1080', 'socks5', '2606:4700::1', 1080, none],
    ['http://us%40r:p%3Aw%2F@a.test:1', 'http', 'a.test', 1, { user: 'us@r', password: 'p:w/' }],
    ['http://user@a.test:1', 'http', 'a.test', 1, { user: 'user', password: '' }],
    ['http://:b:c@a.test:1', 'http', 'a.test', 1, { user: '', password: 'b:c' }],
    ['http://:@a.test:1', 'http', 'a.test', 1, none],
    [`socks5://a:${'b'.repeat(255)}@a.test:1`, 'socks5', 'a.test', 1, { user: 'a', password: 'b'.repeat(255) }],
  ] as const) {
    t.same(parseCallersProxy(value), { kind, host, port, credentials }, value)
  }
})

t.test('callers proxy: rejects anything else', async (t) => {
  const values = ['', 'direct://', 'a.test:1', 'https://a.test:1', 'socks4://a.test:1', 'http://a.test', 'http://:1']
  const more = ['http://a.test:65536', 'http://a.test:1/x', 'http://a.test:1?x', 'http://a.test:1#x', 'http://a b:1']
  const tricks = [
    'http://a\\@b.test:1',
    'http://a@b@c.test:1',
    'http://%ff@a.test:1',
    'http://a..test:1',
    'http://[a]:1',
  ]
  const joined = ['http://a.test:1, http://b.test:1', 'http=a.test:1;https=b.test:1', ' http://a.test:1']
  const long = [`socks5://${'%C3%A9'.repeat(128)}@a.test:1`, `socks5h://a:${'b'.repeat(256)}@a.test:1`]
  for (const value of [...values, ...more, ...tricks, ...joined, ...long]) {
    t.equal(parseCallersProxy(value), undefined, value)
  }
})

t.test('callers proxy: any given proxy survives the header', async (t) => {
  const value = proxyHeaderValue('http://üser:p€ %2F\ud800@bücher.test:80')
  t.match(value, /^[\x21-\x7e]+$/)
  t.same(parseCallersProxy(value), {
    kind: 'http',
    host: 'xn--bcher-kva.test',
    port: 80,
    credentials: { user: 'üser', password: 'p€ /\ufffd' },
  })
})

import t from 'tap'
import { parseAbsolute, parseAuthority, parseOrigin } from '#egress/target/parse-target.ts'

t.test('parse target: reads the authority of a CONNECT', async (t) => {
  t.same(parseAuthority('Example.COM.:443'), { host: 'example.com', port: 443 })
  t.same(parseAuthority('[2606:4700::1]:8443'), { host: '2606:4700::1', port: 8443 })
  t.same(parseAuthority('0x7f.1:80'), { host: '127.0.0.1', port: 80 }, 'in the canonical form that is checked')
})

t.test('parse target: rejects an authority that is not host and port', async (t) => {
  const texts = [
    '',
    'example.com',
    ':443',
    'a.test:',
    'a.test:65536',
    'a.test:-1',
    'a.test:443/',
    '::1:443',
    'a..test:443',
  ]
  for (const text of [
    ...texts,
    'user@a.test:443',
    'http://a.test:443',
    'a.test:443 ',
    '256.1.1.1:80',
    '[::1%25lo]:80',
  ]) {
    t.throws(() => parseAuthority(text), { code: 'BAD_REQUEST' }, JSON.stringify(text))
  }
})

t.test('parse target: reads the absolute form of a plain request', async (t) => {
  const cases = [
    ['http://Example.com', { host: 'example.com', port: 80, hostHeader: 'example.com', path: '/' }],
    ['HTTP://a.test:8080/x?y=1', { host: 'a.test', port: 8080, hostHeader: 'a.test:8080', path: '/x?y=1' }],
    ['http://u:p@[::1]:81/', { host: '::1', port: 81, hostHeader: '[::1]:81', path: '/' }],
  ] as const
  for (const [text, want] of cases) t.same(parseAbsolute(text), want)
})

t.test('parse target: rejects any other form of a plain request', async (t) => {
  for (const text of [
    '',
    '/',
    '*',
    'example.com:443',
    '//a.test/',
    'https://a.test/',
    'http:a.test',
    'http://',
    'ws://a.test/',
  ]) {
    t.throws(() => parseAbsolute(text), { code: 'BAD_REQUEST' }, JSON.stringify(text))
  }
})

t.test('origin form: a path never changes the target', async (t) => {
  const target = { host: 'page.test', port: 80 }
  t.same(parseOrigin('/a?b', target), { ...target, hostHeader: 'page.test', path: '/a?b' })
  t.same(parseOrigin('//evil.test/', target), { ...target, hostHeader: 'page.test', path: '//evil.test/' })
  const six = { host: '2606:4700::1', port: 8080 }
  t.same(parseOrigin('/', six), { ...six, hostHeader: '[2606:4700::1]:8080', path: '/' })
  for (const text of ['', '*', '@10.0.0.1/', '80@10.0.0.1/', 'http://10.0.0.1/', '?a']) {
    t.throws(() => parseOrigin(text, target), { code: 'BAD_REQUEST' }, text)
  }
})

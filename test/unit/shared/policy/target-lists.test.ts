import t from 'tap'
import {
  checkAddresses,
  checkName,
  describeViolation,
  entriesMax,
  parseTargetEntries,
  parseTargetEntry,
  readTargetLists,
  targetTexts,
} from '#shared/policy/target-lists.ts'

t.test('target lists: bring each entry to its normal form', async (t) => {
  const rows: readonly (readonly [text: string, normal: string])[] = [
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    ['example.com:443', 'example.com:443'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['*.Bücher.example.:8443', '*.xn--bcher-kva.example:8443'],
    ['*.com', '*.com'],
    ['192.0.2.7', '192.0.2.7'],
    ['0x7f.1', '127.0.0.1'],
    ['192.0.2.7/24', '192.0.2.0/24'],
    ['192.0.2.7/24:80', '192.0.2.0/24:80'],
    ['192.0.2.7:80', '192.0.2.7:80'],
    ['2001:DB8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '[2001:db8::1]:443'],
    ['[2001:db8::1]/32:443', '[2001:db8::]/32:443'],
    ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7/120', '192.0.2.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
  ]
  for (const [text, normal] of rows) {
    t.equal(parseTargetEntry(text)?.text, normal, text)
    t.equal(parseTargetEntry(normal)?.text, normal, `${normal} again`)
  }
})

t.test('target lists: name each wrong entry', async (t) => {
  const wrong = [
    ...['', '*', '*.', '**.example.com', 'a.*.com', '*example.com', 'https://example.com', 'example.com/path'],
    ...[
      'example.com:0',
      'example.com:65536',
      'example.com:',
      'a..example',
      '.example.com',
      '192.0.2.0/33',
      '*.192.0.2.1',
    ],
    ...['example.com/24', 'user@example.com', 'a b', `${'a'.repeat(250)}.com`, 'fe80::1%eth0'],
  ]
  for (const text of wrong) {
    const parsed = parseTargetEntries([text, 'example.com', text])
    t.match(parsed, { ok: false, problems: [{ index: 0, problem: /^must be a host / }, { index: 2 }] }, `'${text}'`)
  }
  const many = Array.from({ length: entriesMax + 1 }, (_, index) => `a${index}.example`)
  t.match(parseTargetEntries(many), { ok: false, problems: [{ index: undefined, problem: /200 entries/ }] })
  t.ok(parseTargetEntries(many.slice(1)).ok)
  t.throws(() => readTargetLists({ allow: [], deny: ['a..b'] }), TypeError)
})

t.test('target lists: equal lists have equal texts', async (t) => {
  const lists = readTargetLists({ allow: ['b.example', 'A.example', 'b.example.'], deny: [] })
  t.strictSame(targetTexts(lists), { allow: ['a.example', 'b.example'], deny: [] })
})

const final = { isResolvedLater: false }

t.test('target lists: refuse a name by deny, at label boundaries only', async (t) => {
  const lists = readTargetLists({ allow: [], deny: ['ads.example', '*.track.example', 'port.example:8443', '*.zip'] })
  const refusedBy = (host: string, port = 443) => {
    const violation = checkName(lists, { host, port }, final)
    return violation?.list === 'deny' ? violation.entry : violation
  }
  t.equal(refusedBy('ads.example'), 'ads.example')
  t.equal(refusedBy('www.ads.example'), undefined)
  t.equal(refusedBy('badads.example'), undefined)
  t.equal(refusedBy('a.b.track.example'), '*.track.example')
  t.equal(refusedBy('track.example'), undefined, 'the name itself is not below it')
  t.equal(refusedBy('nottrack.example'), undefined)
  t.equal(refusedBy('track.example.other'), undefined)
  t.equal(refusedBy('a.track.example.other'), undefined)
  t.equal(refusedBy('port.example'), undefined)
  t.equal(refusedBy('port.example', 8443), 'port.example:8443')
  t.equal(refusedBy('a.zip'), '*.zip')
})

t.test('target lists: allow only what allow has, and deny wins', async (t) => {
  const lists = readTargetLists({ allow: ['example.com', '*.example.com'], deny: ['secret.example.com'] })
  const check = (host: string) => checkName(lists, { host, port: 443 }, final)
  t.equal(check('example.com'), undefined)
  t.equal(check('a.example.com'), undefined)
  t.strictSame(check('secret.example.com'), { list: 'deny', entry: 'secret.example.com' })
  t.strictSame(check('example.org'), { list: 'allow' })
  t.strictSame(check('93.184.216.34'), { list: 'allow' }, 'an address')
  t.strictSame(checkAddresses(lists, { host: 'example.org', port: 443 }, [['93.184.216.34']]), { list: 'allow' })
  t.equal(checkAddresses(lists, { host: 'example.com', port: 443 }, [['93.184.216.34']]), undefined)
})

t.test('target lists: refuse a name one of whose addresses is denied, in every form of the address', async (t) => {
  const lists = readTargetLists({ allow: [], deny: ['93.184.216.0/24', '[2606:2800::]/32:443'] })
  const check = (...addresses: readonly string[][]) =>
    checkAddresses(lists, { host: 'a.example', port: 443 }, addresses)
  const denied = { list: 'deny', entry: '93.184.216.0/24' } as const
  t.equal(check(['93.184.217.1']), undefined)
  t.strictSame(check(['93.184.216.34']), denied)
  t.strictSame(check(['198.51.100.1'], ['93.184.216.34']), denied, 'one of several')
  t.strictSame(check(['::ffff:93.184.216.34']), denied, 'mapped to IPv6')
  t.strictSame(check(['64:ff9b::5db8:d822', '93.184.216.34']), denied, 'translated by the network')
  t.match(check(['2606:2800::1']), { entry: '[2606:2800::]/32:443' })
  t.equal(checkAddresses(lists, { host: 'a.example', port: 80 }, [['2606:2800::1']]), undefined)
  t.strictSame(checkName(lists, { host: '93.184.216.34', port: 80 }, final), denied, 'a literal address')
})

t.test('target lists: allow a name by its addresses if allow has all of them', async (t) => {
  const lists = readTargetLists({ allow: ['93.184.216.0/24', 'example.com'], deny: [] })
  const target = { host: 'a.example', port: 443 }
  t.equal(checkName(lists, target, { isResolvedLater: true }), undefined, 'not decided yet')
  t.strictSame(checkName(lists, target, final), { list: 'allow' }, 'a proxy resolves it')
  t.equal(checkAddresses(lists, target, [['93.184.216.34'], ['93.184.216.35']]), undefined)
  t.strictSame(checkAddresses(lists, target, [['93.184.216.34'], ['93.184.217.1']]), { list: 'allow' })
  t.strictSame(checkAddresses(lists, target, []), { list: 'allow' }, 'no address')
})

t.test('target lists: a violation names the entry and whose lists refuse', async (t) => {
  t.equal(
    describeViolation({ list: 'deny', entry: '*.a.example' }, 'the account'),
    'is denied by the entry *.a.example of the targets of the account',
  )
  t.equal(
    describeViolation({ list: 'allow' }, 'this installation'),
    'is not among the allowed targets of this installation',
  )
})

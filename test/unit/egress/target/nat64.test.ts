import t from 'tap'
import { createDiscovery, discoveryName, prefixesIn, translatedAddresses } from '#egress/target/nat64.ts'
import { parseBlocks, type Cidr } from '#shared/policy/cidr.ts'

const written = (prefixes: readonly Cidr[] | undefined) =>
  prefixes?.map(([first, bits]) => `${first.toString()}/${bits}`)

/** RFC 6052 §2.4: 192.0.2.33 behind prefixes of each length. */
const rfcExamples = [
  ['2001:db8::/32', '2001:db8:c000:221::'],
  ['2001:db8:100::/40', '2001:db8:1c0:2:21::'],
  ['2001:db8:122::/48', '2001:db8:122:c000:2:2100::'],
  ['2001:db8:122:300::/56', '2001:db8:122:3c0:0:221::'],
  ['2001:db8:122:344::/64', '2001:db8:122:344:c0:2:2100::'],
  ['2001:db8:122:344::/96', '2001:db8:122:344::192.0.2.33'],
  ['64:ff9b::/96', '64:ff9b::192.0.2.33'],
] as const

t.test('NAT64: extracts the embedded IPv4 address behind a prefix of any length', async (t) => {
  for (const [prefix, ip] of rfcExamples) t.same(translatedAddresses(ip, parseBlocks([prefix])), ['192.0.2.33'], ip)
  const all = parseBlocks(['2001:db8:122:344::/64', '2001:db8:122:344::/96'])
  t.same(
    translatedAddresses('2001:db8:122:344::192.0.2.33', all),
    ['0.0.0.192', '192.0.2.33'],
    'for each of several prefixes',
  )
})

t.test('NAT64: an address outside every prefix is not translated', async (t) => {
  for (const ip of ['64:ff9b:1::1', '2606:4700::1', '192.0.2.33', 'a.test']) {
    t.same(translatedAddresses(ip, parseBlocks(['64:ff9b::/96'])), [], ip)
  }
})

t.test('NAT64: derives the prefixes of every length from the addresses of ipv4only.arpa', async (t) => {
  for (const [ip, prefix] of [
    ['64:ff9b::192.0.0.170', '64:ff9b::c000:aa/96'],
    ['64:ff9b:1:fffe::192.0.0.171', '64:ff9b:1:fffe::c000:ab/96'],
    ['2a00:1:c000:aa::', '2a00:1:c000:aa::/32'],
    ['2a00:1:1c0:0:ab::', '2a00:1:1c0:0:ab::/40'],
    ['2a00:1:2:c000:0:aa00::', '2a00:1:2:c000:0:aa00::/48'],
    ['2a00:1:2:3c0:0:aa::', '2a00:1:2:3c0:0:aa::/56'],
    ['2a00:1:2:3:c0:0:ab00::', '2a00:1:2:3:c0:0:ab00:0/64'],
  ] as const) {
    t.same(written(prefixesIn([ip])), [prefix])
  }
})

t.test('NAT64: a private network never becomes a prefix', async (t) => {
  for (const ip of ['fd00:ec2::192.0.0.170', 'fe80::192.0.0.170', '::ffff:192.0.0.170', '2002:a00:1::192.0.0.170']) {
    t.same(prefixesIn([ip]), [], ip)
  }
  t.same(prefixesIn(['2606:4700::1', '192.0.0.170', 'nonsense']), [])
})

const startDiscovery = (answers: (readonly string[] | undefined)[]) => {
  const clock = { nowMs: 0 }
  const queries: string[] = []
  let failures = 0
  const discovery = createDiscovery({
    query: async (name) => {
      queries.push(name)
      return answers.shift()
    },
    now: () => clock.nowMs,
    failed: () => {
      failures += 1
    },
  })
  return { discovery, clock, queries, failures: () => failures }
}

t.test('NAT64 discovery: caches one query for ten minutes, and returns the old result during the next', async (t) => {
  const { discovery, clock, queries } = startDiscovery([['64:ff9b::192.0.0.170'], [], undefined])
  const first = await Promise.all([discovery(), discovery(), discovery()])
  for (const prefixes of first) t.same(written(prefixes), ['64:ff9b::c000:aa/96'])
  clock.nowMs = 599_999
  await discovery()
  t.same(queries, [discoveryName])
  clock.nowMs = 600_000
  t.same(written(await discovery()), ['64:ff9b::c000:aa/96'], 'no lookup waits for the second query')
  t.same(queries.length, 2)
  t.same(await discovery(), [], 'its result applies from then on')
  clock.nowMs = 1_200_000
  await discovery()
  t.same(await discovery(), [], 'a failed query changes nothing')
  t.equal(queries.length, 3)
})

t.test('NAT64 discovery: is unknown after a failed query, and retries after ten seconds', async (t) => {
  const { discovery, clock, queries, failures } = startDiscovery([undefined, undefined, ['64:ff9b::192.0.0.171']])
  t.equal(await discovery(), undefined)
  clock.nowMs = 9999
  t.equal(await discovery(), undefined)
  t.equal(queries.length, 1)
  clock.nowMs = 10_000
  t.equal(await discovery(), undefined)
  clock.nowMs = 20_000
  t.same(written(await discovery()), ['64:ff9b::c000:ab/96'])
  t.equal(failures(), 2)
})

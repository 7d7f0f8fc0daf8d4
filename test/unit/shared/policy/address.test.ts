import { BlockList, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import t from 'tap'
import { isLoopback, isPrivateAddress, isPublicAddress } from '#shared/policy/address.ts'

t.test('address policy: accepts public addresses next to special blocks', async (t) => {
  const publics = [
    ...['1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '168.63.129.15', '168.63.129.17'],
    ...['192.0.1.0', '192.0.3.0', '192.88.98.255', '198.17.255.255', '198.20.0.0', '223.255.255.255'],
    ...['2001:200::1', '2001:4860:4860::8888', '2606:4700:4700::1111', '3ffe:ffff::1', '2001:db7::1', '2003::1'],
    '2606:4700::1:5efe:7f00:1',
  ]
  for (const ip of publics) t.ok(isPublicAddress(ip), ip)
})

t.test('address policy: rejects special, embedded and foreign addresses', async (t) => {
  const specials = [
    ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '127.0.0.1', '168.63.129.16', '169.254.169.254', '172.31.255.255'],
    ...['192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1'],
    ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
    ...['::', '::1', '::7f00:1', '::ffff:8.8.8.8', '::ffff:0:808:808', '64:ff9b::808:808', '64:ff9b:1::1', '100::1'],
    ...['100:0:0:1::1', '2001::1', '2001:1::1', '2001:20::1', '2001:1ff:ffff::1', '2001:db8::1', '2002:808:808::1'],
    ...['3fff::1', '5f00::1', '4000::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff0e::1'],
    ...['2606:4700::5efe:7f00:1', '2606:4700::200:5efe:7f00:1', '2606:4700::100:5efe:808:808'],
  ]
  for (const ip of specials) t.notOk(isPublicAddress(ip), ip)
})

t.test('address: private networks are those of organisations, without addresses that clouds serve', async (t) => {
  for (const ip of [
    ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '100.64.0.1', '198.18.0.1', '240.0.0.1'],
    ...['fc00::1', 'fd12::1'],
  ]) {
    t.ok(isPrivateAddress(ip), ip)
  }
  for (const ip of [
    ...['0.0.0.0', '127.0.0.1', '169.254.169.254', '100.100.100.200', '192.0.0.192', '168.63.129.16', '224.0.0.1'],
    ...['255.255.255.255', '192.0.2.1', '8.8.8.8', '172.32.0.0', '::1', 'fe80::1', 'fd00:ec2::254', 'fd20:ce::254'],
    ...['::ffff:10.0.0.1', '64:ff9b::a00:1', '2002:a00:1::', 'fec0::1', '2606:4700::1', 'a.test', ''],
  ]) {
    t.notOk(isPrivateAddress(ip), ip)
  }
})

t.test('address: loopback is 127.0.0.0/8 and ::1', async (t) => {
  for (const ip of ['127.0.0.1', '127.255.255.255', '::1']) t.ok(isLoopback(ip), ip)
  for (const ip of ['126.255.255.255', '128.0.0.0', '0.0.0.0', '::', '::ffff:127.0.0.1', 'localhost']) {
    t.notOk(isLoopback(ip), ip)
  }
})

t.test('address policy: rejects anything but a plain address', async (t) => {
  const texts = ['', ' 8.8.8.8', '8.8.8.8 ', '8.8.8', '08.8.8.8', '0x8.8.8.8', '134744072', '8.8.8.8.', '8.8.8.8/32']
  for (const text of [
    ...texts,
    '[2606:4700::1]',
    '2606:4700::1%eth0',
    '2606:4700::1%',
    '1.2.3.256',
    'example.com',
    ':',
  ]) {
    t.notOk(isPublicAddress(text), JSON.stringify(text))
  }
})

/** The same rule in another implementation: Node's BlockList, filled by hand from the registries. */
const referenceBlocks = (): { special: BlockList; global: BlockList } => {
  const special = new BlockList()
  const v4 = '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24'
  const more = '192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15'
  const last = '198.51.100.0/24 203.0.113.0/24 224.0.0.0/3 168.63.129.16/32'
  const clouds = '129.224.0.0/17 199.36.153.4/30 199.36.153.8/30 34.126.0.0/18 161.26.0.0/16 166.8.0.0/14'
  for (const block of `${v4} ${more} ${last} ${clouds}`.split(' ')) {
    const [first = '', bits] = block.split('/')
    special.addSubnet(first, Number(bits), 'ipv4')
  }
  for (const block of '2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 2001:4860:8040::/42'.split(' ')) {
    const [first = '', bits] = block.split('/')
    special.addSubnet(first, Number(bits), 'ipv6')
  }
  const global = new BlockList()
  global.addSubnet('2000::', 3, 'ipv6')
  return { special, global }
}

/** Numbers from 0 below 2^32, the same in every run (xorshift32). */
const seededNumbers = (seed: number) => {
  let state = seed
  return (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
}

/** First groups near which rules begin or end, so that the sample covers them. */
const prefixes = [
  '2001:',
  '2001:1',
  '2001:db8',
  '2002:',
  '2620:4f:8000',
  '3fff:',
  '3ffe:',
  '1fff:',
  '4000:',
  '::ffff',
  '2a00:',
]

const sample = (next: () => number): string => {
  const roll = next()
  if (roll % 2 === 0) {
    const number = next()
    const edges = [0, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224, 255]
    const first = roll % 4 === 0 ? (edges[next() % edges.length] ?? 0) : number >>> 24
    return [first, (number >>> 16) & 255, (number >>> 8) & 255, number & 255].join('.')
  }
  const prefix = prefixes[next() % prefixes.length] ?? '2001:'
  const tail = [next() & 0xffff, next() & 0xffff].map((group) => group.toString(16)).join(':')
  return `${prefix.replace(/:$/, '')}::${tail}`.replace('::ffff::', '::ffff:')
}

/** Of 100,000 addresses, those on which the verdict differs from the reference, and how many the reference calls public. */
const compare = (verdict: (ip: string) => boolean): { differing: string[]; publics: number } => {
  const { special, global } = referenceBlocks()
  const next = seededNumbers(20_261_120)
  const results = { differing: [] as string[], publics: 0 }
  for (let index = 0; index < 100_000; index += 1) {
    const ip = sample(next)
    const want = isIPv4(ip) ? !special.check(ip, 'ipv4') : global.check(ip, 'ipv6') && !special.check(ip, 'ipv6')
    if (want) results.publics += 1
    if (verdict(ip) !== want) results.differing.push(ip)
  }
  return results
}

t.test('address policy: agrees with an independent table of blocks', async (t) => {
  const { differing, publics } = compare(isPublicAddress)
  t.strictSame(differing, [])
  t.ok(publics > 10_000 && publics < 90_000, 'both verdicts are frequent')
})

t.test("address policy: the comparison detects a rule with gaps, the library's own ranges", async (t) => {
  const { differing } = compare((ip) => ipaddr.parse(ip).range() === 'unicast')
  t.ok(
    differing.some((ip) => ip.startsWith('4000:')),
    'space outside 2000::/3',
  )
})

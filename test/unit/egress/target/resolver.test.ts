import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { addressesInHosts, createIpv6Query, createResolver } from '#egress/target/resolver.ts'
import { startDnsServer } from '#test/helpers/dns-server.ts'

const file = `
# 10.0.0.9 commented.test
127.0.0.1\tlocalhost loopback
10.0.0.1  A.test alias.test # 10.0.0.2 after.test
10.0.0.3 a.test
fd00::1 a.test
fe80::1%eth0 zoned.test
not-an-address broken.test`

t.test('hosts file: returns every address of a name and of its aliases, in the order of the file', async (t) => {
  t.same(addressesInHosts(file, 'a.test'), ['10.0.0.1', '10.0.0.3', 'fd00::1'])
  t.same(addressesInHosts(file, 'alias.test'), ['10.0.0.1'])
})

t.test('hosts file: ignores comments, partial names and lines without a plain address', async (t) => {
  for (const name of ['commented.test', 'after.test', 'test', 'a.tes', 'zoned.test', 'broken.test', '']) {
    t.same(addressesInHosts(file, name), [], name)
  }
})

t.test('hosts file: localhost is loopback even if the file lacks it', async (t) => {
  t.same(addressesInHosts(file, 'localhost'), ['127.0.0.1'])
  t.same(addressesInHosts('', 'localhost'), ['127.0.0.1', '::1'])
})

t.test('resolver: a name that times out or does not exist has no addresses', async (t) => {
  await using server = await startDnsServer({ 'late.test': 'silent' })
  const resolver = createResolver({ dnsMs: 300, servers: [server.address] })
  t.same(await resolver.resolve('nowhere.test'), [])
  t.same(await resolver.lookup('nowhere.test'), [])
  t.same(await resolver.resolve('late.test'), [])
  t.same(await resolver.resolve(`${'a'.repeat(70)}.test`), [], 'not even an invalid name')
})

t.test(
  'resolver: reports whether a server responded; a name that does not exist or cannot be queried counts as a response',
  async (t) => {
    const reported: boolean[] = []
    const reportsFor = async (address: string, name: string) => {
      reported.length = 0
      await createResolver({ dnsMs: 300, servers: [address] }, (isAnswered) => reported.push(isAnswered)).resolve(name)
      return [...reported]
    }
    await using server = await startDnsServer({ 'late.test': 'silent', 'a.test': ['1.1.1.1'] })
    for (const name of ['a.test', 'nowhere.test', `${'a'.repeat(70)}.test`])
      t.same(await reportsFor(server.address, name), [true], name)
    t.same(await reportsFor(server.address, 'late.test'), [false])
    t.same(await reportsFor('127.0.0.9:1', 'a.test'), [false], 'no server listens there')
  },
)

t.test('resolver: returns the addresses of both families', async (t) => {
  await using server = await startDnsServer({ 'a.test': ['1.1.1.1', '2606:4700::1111', '8.8.8.8'] })
  const { resolve } = createResolver({ dnsMs: 5000, servers: [server.address] })
  t.same(await resolve('a.test'), ['1.1.1.1', '8.8.8.8', '2606:4700::1111'])
})

t.test('resolver: ignores search lists', async (t) => {
  // c-ares reads both when a resolver is created; a pod has them in its resolv.conf.
  process.env['LOCALDOMAIN'] = 'svc.cluster.test'
  process.env['RES_OPTIONS'] = 'ndots:5'
  t.teardown(() => {
    delete process.env['LOCALDOMAIN']
    delete process.env['RES_OPTIONS']
  })
  await using server = await startDnsServer({ 'api.default.svc.cluster.test': ['10.0.0.1'] })
  const resolver = createResolver({ dnsMs: 5000, servers: [server.address] })
  t.same(await resolver.resolve('api.default'), [])
  t.same(await resolver.lookup('api.default'), [])
  t.same(server.queried, Array(4).fill('api.default'), 'A and AAAA of each, no other queries')
})

t.test('resolver: only lookup reads the hosts file', async (t) => {
  const hostsPath = join(t.testdir(), 'hosts')
  writeFileSync(hostsPath, '10.0.0.5 a.test # b.test\n')
  await using server = await startDnsServer({ 'a.test': ['1.1.1.1'], 'b.test': ['8.8.8.8'] })
  const resolver = createResolver({ dnsMs: 5000, servers: [server.address], hostsPath })
  t.same(await resolver.lookup('a.test'), ['10.0.0.5'])
  t.same(await resolver.resolve('a.test'), ['1.1.1.1'])
  t.same(await resolver.lookup('b.test'), ['8.8.8.8'], 'DNS if the file lacks the name')
  t.same(await createResolver({ dnsMs: 300, hostsPath: '/nonexistent' }).lookup('localhost'), ['127.0.0.1', '::1'])
})

t.test('resolver: reads the hosts file of the machine by default', async (t) => {
  t.ok((await createResolver({ dnsMs: 300 }).lookup('localhost')).includes('127.0.0.1'))
})

t.test('IPv6 query: distinguishes a name without addresses from a failed query', async (t) => {
  const records = { 'a.test': ['2606:4700::1'], 'four.test': ['1.1.1.1'], 'late.test': 'silent' } as const
  await using server = await startDnsServer(records)
  const query = createIpv6Query({ dnsMs: 300, servers: [server.address] })
  t.same(await query('a.test'), ['2606:4700::1'])
  t.same(await query('four.test'), [])
  t.same(await query('nowhere.test'), [])
  t.equal(await query('late.test'), undefined)
})

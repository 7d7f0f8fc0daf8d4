import t from 'tap'
import { type Resolver, resolveTarget } from '#egress/target/resolve-target.ts'
import { parseBlocks, parseCidr } from '#shared/policy/cidr.ts'
import { noLists } from '#shared/policy/target-lists.ts'
import { unusedResolver, createResolver, targetRules } from '#test/helpers/egress-filter.ts'

const ownPort = 3128
const client = { ownPorts: [ownPort], lists: noLists }
const target = (host: string, port = 443) => ({ host, port })

t.test('resolve target: returns every address of a public name', async (t) => {
  const resolver = createResolver({ 'a.test': { A: ['1.1.1.1', '8.8.8.8'], AAAA: ['2606:4700::1111'] } })
  const addresses = await resolveTarget({ resolver, rules: targetRules() }, target('a.test'), client)
  t.same(addresses, ['1.1.1.1', '8.8.8.8', '2606:4700::1111'])
})

t.test('resolve target: one private address blocks the name, at any position', async (t) => {
  for (const A of [
    ['10.0.0.1', '1.1.1.1'],
    ['1.1.1.1', '10.0.0.1'],
    ['1.1.1.1', 'no address'],
  ]) {
    const resolver = createResolver({ 'a.test': { A } })
    await t.rejects(resolveTarget({ resolver, rules: targetRules() }, target('a.test'), client), { code: 'BLOCKED' })
  }
})

t.test('resolve target: blocks internal names before resolution, whether they exist or not', async (t) => {
  const rules = { ...targetRules('grafana.corp.internal:443'), internal: ['svc.k8s.test'] }
  const resolver: Resolver = { ...unusedResolver, lookup: async () => ['10.0.0.1'] }
  const deps = { resolver, rules }
  for (const host of ['kubernetes.default.svc', 'a.internal', 'nas.local', 'api.default.svc.k8s.test']) {
    await t.rejects(
      resolveTarget(deps, target(host), client),
      { code: 'BLOCKED', message: 'the name is internal' },
      host,
    )
  }
  t.same(await resolveTarget(deps, target('grafana.corp.internal'), client), ['10.0.0.1'], 'an allowed internal name')
  await t.rejects(resolveTarget(deps, target('grafana.corp.internal', 80), client), { code: 'BLOCKED' })
  await t.rejects(resolveTarget(deps, target('a.grafana.corp.internal'), client), { code: 'BLOCKED' })
})

t.test('resolve target: literals, local names and blocked ports need no DNS query', async (t) => {
  const deps = { resolver: unusedResolver, rules: targetRules() }
  t.same(await resolveTarget(deps, target('1.1.1.1'), client), ['1.1.1.1'])
  for (const [host, port] of [
    ['10.0.0.1', 443],
    ['kubernetes', 443],
    ['a.localhost', 443],
    ['a.test', 25],
    ['1.1.1.1', 0],
  ] as const) {
    await t.rejects(resolveTarget(deps, target(host, port), client), { code: 'BLOCKED' }, `${host}:${port}`)
  }
})

t.test('resolve target: a name without addresses is DNS_FAILED', async (t) => {
  const deps = { resolver: createResolver({}), rules: targetRules() }
  await t.rejects(resolveTarget(deps, target('a.test'), client), { code: 'DNS_FAILED' })
})

t.test('resolve target: blocks a name with more than 64 addresses', async (t) => {
  const rules = targetRules()
  const of = (many: number) => {
    const A = Array.from({ length: many }, (_, last) => `1.1.1.${last}`)
    return resolveTarget({ resolver: createResolver({ 'a.test': { A } }), rules }, target('a.test'), client)
  }
  t.equal((await of(64)).length, 64)
  await t.rejects(of(65), { code: 'BLOCKED' })
})

t.test('resolve target: reads the network of this machine once for all addresses of a name', async (t) => {
  let lookups = 0
  const own = () => {
    lookups += 1
    return { addresses: new Set<string>(), networks: [] }
  }
  const resolver = createResolver({ 'a.test': { A: ['1.1.1.1', '8.8.8.8'], AAAA: ['2606:4700::1111'] } })
  await resolveTarget({ resolver, rules: { ...targetRules(), own } }, target('a.test'), client)
  t.equal(lookups, 1)
})

t.test('resolve target: resolves allowed names as the machine does, all others by DNS only', async (t) => {
  const resolver: Resolver = { resolve: async () => ['1.1.1.1'], lookup: async () => ['10.0.0.1'] }
  const deps = { resolver, rules: targetRules('intra.test:443') }
  t.same(await resolveTarget(deps, target('intra.test'), client), ['10.0.0.1'])
  t.same(await resolveTarget(deps, target('intra.test', 80), client), ['1.1.1.1'], 'not on this port')
  t.same(await resolveTarget(deps, target('a.intra.test'), client), ['1.1.1.1'])
})

t.test(
  'resolve target: an allowed name permits private networks, never loopback, link-local or cloud services',
  async (t) => {
    const rules = targetRules('intra.test localhost 127.0.0.7 169.254.169.254:8080')
    const resolving = (host: string, ip: string, port = 443) => {
      const lookup = async () => ['10.0.0.1', ip]
      return resolveTarget({ resolver: { ...unusedResolver, lookup }, rules }, target(host, port), client)
    }
    for (const ip of ['192.168.0.1', '100.64.0.1', 'fd12::1', '8.8.8.8']) {
      t.same(await resolving('intra.test', ip), ['10.0.0.1', ip])
    }
    for (const ip of [
      ...['127.0.0.1', '127.0.0.53', '0.0.0.0', '::1', '::', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '64:ff9b::7f00:1'],
      ...['169.254.169.254', 'fe80::1', 'fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '168.63.129.16'],
      ...['192.0.0.192', '199.36.153.8', '166.8.0.1', '224.0.0.1', '255.255.255.255'],
    ]) {
      await t.rejects(resolving('intra.test', ip), { code: 'BLOCKED' }, ip)
    }
    t.same(await resolving('intra.test', '127.0.0.7'), ['10.0.0.1', '127.0.0.7'], 'an address that is allowed itself')
    t.same(await resolving('intra.test', '169.254.169.254', 8080), ['10.0.0.1', '169.254.169.254'])
    for (const ip of ['127.0.0.1', '127.0.1.1', '::1']) t.same(await resolving('localhost', ip), ['10.0.0.1', ip])
    for (const ip of ['169.254.169.254', '0.0.0.0', 'fe80::1']) {
      await t.rejects(resolving('localhost', ip), { code: 'BLOCKED' }, `localhost at ${ip}`)
    }
  },
)

t.test('resolve target: cloud services at public addresses are permitted by address or block only', async (t) => {
  const deps = (allow: string) => ({
    resolver: createResolver({ 'a.test': { A: ['199.36.153.8'] } }),
    rules: targetRules(allow),
  })
  for (const host of ['199.36.153.8', 'a.test', '166.8.0.1', '129.224.0.1', '2600:2d00:2:2000::1']) {
    await t.rejects(resolveTarget(deps(''), target(host), client), { code: 'BLOCKED' }, host)
  }
  for (const allow of ['199.36.153.8', '199.36.153.0/24']) {
    t.same(await resolveTarget(deps(allow), target('a.test'), client), ['199.36.153.8'], allow)
  }
})

t.test('resolve target: an address behind a NAT64 prefix is checked as its embedded IPv4 address', async (t) => {
  const nat64 = async () => parseBlocks(['64:ff9b::/96', '2a00:1:2:3::/64'])
  const deny = parseBlocks(['93.184.215.14'])
  const deps = { resolver: unusedResolver, rules: { ...targetRules('10.0.0.7'), nat64, deny } }
  for (const host of ['64:ff9b::808:808', '2a00:1:2:3:8:808:800::', '64:ff9b::a00:7', '2606:4700::1']) {
    t.same(await resolveTarget(deps, target(host), client), [host])
  }
  for (const host of [
    ...['64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe', '64:ff9b::a00:1', '64:ff9b::5db8:d70e', '64:ff9b::a83f:8110'],
    ...['2a00:1:2:3:a:0:100::', '2a00:1:2:3:7f:0:100::'],
  ]) {
    await t.rejects(resolveTarget(deps, target(host), client), { code: 'BLOCKED' }, host)
  }
  const resolver = createResolver({ 'a.test': { A: ['8.8.8.8'], AAAA: ['2a00:1:2:3:a:0:100::'] } })
  await t.rejects(resolveTarget({ ...deps, resolver }, target('a.test'), client), { code: 'BLOCKED' }, 'an answer')
})

t.test('resolve target: while NAT64 is unknown, only IPv4 and allowed addresses are reachable', async (t) => {
  const resolver = createResolver({
    'dual.test': { A: ['8.8.8.8'], AAAA: ['2606:4700::1'] },
    'six.test': { AAAA: ['2606:4700::1'] },
    'bad.test': { A: ['8.8.8.8'], AAAA: ['fd00::1'] },
  })
  const deps = { resolver, rules: { ...targetRules('2606:4700::2'), nat64: async () => undefined } }
  t.same(await resolveTarget(deps, target('dual.test'), client), ['8.8.8.8'])
  t.same(await resolveTarget(deps, target('2606:4700::2'), client), ['2606:4700::2'])
  for (const host of ['six.test', '2606:4700::1']) {
    await t.rejects(resolveTarget(deps, target(host), client), { code: 'DNS_FAILED', message: /NAT64/ }, host)
  }
  await t.rejects(resolveTarget(deps, target('bad.test'), client), { code: 'BLOCKED' })
})

t.test('resolve target: 0.0.0.0/8 is this filter, as loopback is', async (t) => {
  const deps = { resolver: unusedResolver, rules: targetRules('0.0.0.0/0 ::/0') }
  for (const host of ['0.0.0.0', '0.1.2.3', '127.0.0.1', '127.9.9.9', '::1', '::']) {
    const own = resolveTarget(deps, target(host, ownPort), client)
    await t.rejects(own, { code: 'BLOCKED', message: 'the address is this filter' }, host)
    t.same(await resolveTarget(deps, target(host), client), [host], 'another port')
  }
})

t.test('resolve target: denied and own addresses are blocked even if allowed', async (t) => {
  const deny = [parseCidr('10.1.0.0/16'), parseCidr('93.184.215.14')].filter((block) => block !== undefined)
  const rules = {
    ...targetRules('10.0.0.0/8 127.0.0.0/8'),
    deny,
    own: () => ({ addresses: new Set(['10.2.0.1']), networks: [] }),
  }
  const deps = { resolver: unusedResolver, rules }
  for (const [host, port] of [
    ['10.1.0.1', 443],
    ['93.184.215.14', 443],
    ['10.2.0.1', ownPort],
    ['127.0.0.2', ownPort],
  ] as const) {
    await t.rejects(resolveTarget(deps, target(host, port), client), { code: 'BLOCKED' }, `${host}:${port}`)
  }
  t.same(await resolveTarget(deps, target('10.2.0.1'), client), ['10.2.0.1'], 'another port of this machine')
})

t.test('resolve target: public addresses of this machine and its networks are blocked unless allowed', async (t) => {
  const networks = [parseCidr('93.184.215.0/24'), parseCidr('2a01:4f8:1:2::/64')].filter((block) => block !== undefined)
  const own = () => ({ addresses: new Set(['93.184.215.14']), networks })
  const deps = { resolver: unusedResolver, rules: { ...targetRules('93.184.215.99'), own } }
  for (const host of ['93.184.215.14', '93.184.215.15', '2a01:4f8:1:2::7']) {
    await t.rejects(resolveTarget(deps, target(host), client), { code: 'BLOCKED' }, host)
  }
  for (const host of ['93.184.215.99', '93.184.216.14', '2a01:4f8:1:3::7']) {
    t.same(await resolveTarget(deps, target(host), client), [host])
  }
})

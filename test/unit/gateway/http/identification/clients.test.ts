import t from 'tap'
import { clientAddress, createClients } from '#gateway/http/identification/clients.ts'
import { proxyAdvice } from '#gateway/telemetry/events.ts'
import { parseCidr } from '#shared/policy/cidr.ts'

const start = (trusted: string) => {
  const ignored: string[] = []
  const clients = createClients({
    trustedProxies: [parseCidr(trusted)!],
    ignored: (peer) => ignored.push(peer),
  })
  const find = (peerAddress: string | undefined, forwardedFor?: string) =>
    clients.find({ peerAddress, headers: { ...(forwardedFor !== undefined && { 'x-forwarded-for': forwardedFor }) } })
  return { clients, find, ignored }
}

t.test('clients: reports X-Forwarded-For of an untrusted proxy once, with the setting that trusts it', async (t) => {
  const { clients, find, ignored } = start('10.0.0.0/8')
  find('192.0.2.1')
  t.equal(find('10.0.0.1', '198.51.100.7').network, '198.51.100.7')
  t.same(
    [ignored, clients.ignoredProxy()],
    [[], undefined],
    'without the header, and with a trusted proxy, nothing is reported',
  )
  t.equal(find('192.0.2.1', '198.51.100.7').network, '192.0.2.1')
  find('192.0.2.2', '198.51.100.7')
  t.same([ignored, clients.ignoredProxy()], [['192.0.2.1'], '192.0.2.1'])
  t.match(proxyAdvice('192.0.2.1'), /192\.0\.2\.1.*SHUTTERFLEET_TRUSTED_PROXIES/)
})

t.test('clients: reports a closed connection as unknown', async (t) => {
  const { find, ignored } = start('10.0.0.0/8')
  find(undefined, '198.51.100.7')
  t.same(ignored, ['unknown'])
})

const trusted = ['10.0.0.0/8', 'fd00::/8'].map((block) => parseCidr(block)!)

const cases: { name: string; peer: string | undefined; forwarded?: string; want: string }[] = [
  { name: 'without a proxy the connection address counts', peer: '198.51.100.7', want: '198.51.100.7' },
  {
    name: 'X-Forwarded-For of an untrusted client is ignored',
    peer: '198.51.100.7',
    forwarded: '203.0.113.9',
    want: '198.51.100.7',
  },
  { name: 'behind a trusted proxy its client counts', peer: '10.0.0.1', forwarded: '203.0.113.9', want: '203.0.113.9' },
  {
    name: 'entries written by the client, to the left, do not count',
    peer: '10.0.0.1',
    forwarded: '192.0.2.1, 203.0.113.9, 10.0.0.2',
    want: '203.0.113.9',
  },
  {
    name: 'if all are trusted, the leftmost entry counts',
    peer: '10.0.0.1',
    forwarded: '10.0.0.3, 10.0.0.2',
    want: '10.0.0.3',
  },
  { name: 'without X-Forwarded-For the trusted proxy counts', peer: '10.0.0.1', want: '10.0.0.1' },
  {
    name: 'an invalid entry ends the search',
    peer: '10.0.0.1',
    forwarded: '203.0.113.9, unknown, 10.0.0.2',
    want: '10.0.0.2',
  },
  { name: 'ports are dropped', peer: '10.0.0.1', forwarded: '203.0.113.9:4711', want: '203.0.113.9' },
  {
    name: 'an IPv4-mapped address counts as IPv4',
    peer: '::ffff:10.0.0.1',
    forwarded: '203.0.113.9',
    want: '203.0.113.9',
  },
  { name: 'a closed connection is unknown', peer: undefined, want: 'unknown' },
]

for (const { name, peer, forwarded, want } of cases) {
  t.test(`clients: ${name}`, async (t) => {
    t.same(clientAddress(peer, forwarded, trusted), { network: want, site: want })
  })
}

t.test('clients: an IPv6 client is its /64, in the site of its /48', async (t) => {
  const client = { network: '2001:db8:0:0/64', site: '2001:db8:0/48' }
  t.same(clientAddress('fd00::1', '[2001:db8::1]:443', trusted), client)
  t.same(clientAddress('2001:db8::ffff', undefined, []), client)
  t.same(clientAddress('2001:db8:0:1::1', undefined, []), { ...client, network: '2001:db8:0:1/64' })
  t.not(clientAddress('2001:db8:1::1', undefined, []).site, client.site)
})

import t from 'tap'
import { createClients, proxyAdvice } from '#gateway/http/identification/clients.ts'
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

t.test('X-Forwarded-For of an untrusted proxy is reported once, with the setting that trusts it', async (t) => {
  const { clients, find, ignored } = start('10.0.0.0/8')
  find('192.0.2.1')
  t.equal(find('10.0.0.1', '198.51.100.7').network, '198.51.100.7')
  t.same([ignored, clients.ignoredProxy()], [[], undefined], 'not where there is none, and not of a trusted one')
  t.equal(find('192.0.2.1', '198.51.100.7').network, '192.0.2.1')
  find('192.0.2.2', '198.51.100.7')
  t.same([ignored, clients.ignoredProxy()], [['192.0.2.1'], '192.0.2.1'])
  t.match(proxyAdvice('192.0.2.1'), /192\.0\.2\.1.*SHUTTERFLEET_TRUSTED_PROXIES/)
})

t.test('a connection that is gone is reported as unknown', async (t) => {
  const { find, ignored } = start('10.0.0.0/8')
  find(undefined, '198.51.100.7')
  t.same(ignored, ['unknown'])
})

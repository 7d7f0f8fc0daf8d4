import t from 'tap'
import { ownNetwork } from '#egress/target/own-network.ts'
import { inAny, parseAddress } from '#shared/policy/cidr.ts'

t.test('finds loopback, and every address in a network of its own', async (t) => {
  const { addresses, networks } = ownNetwork()
  t.ok(addresses.has('127.0.0.1'))
  for (const ip of addresses) {
    const address = parseAddress(ip)
    if (address) t.ok(inAny(networks, address), ip)
  }
})

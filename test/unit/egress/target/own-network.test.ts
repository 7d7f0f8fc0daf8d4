import t from 'tap'
import { createOwnNetwork } from '#egress/target/own-network.ts'
import { inAny, parseAddress } from '#shared/policy/cidr.ts'

t.test('own network: includes loopback, and every address lies in one of its networks', async (t) => {
  const { addresses, networks } = createOwnNetwork(() => 0)()
  t.ok(addresses.has('127.0.0.1'))
  for (const ip of addresses) {
    const address = parseAddress(ip)
    if (address) t.ok(inAny(networks, address), ip)
  }
})

t.test('own network: reads the interfaces again after a second, and not before', async (t) => {
  let nowMs = 0
  let reads = 0
  const own = createOwnNetwork(
    () => nowMs,
    () => ({ addresses: new Set([`read ${(reads += 1)}`]), networks: [] }),
  )
  for (const [at, read] of [
    [0, 1],
    [999, 1],
    [1000, 2],
    [1999, 2],
    [5000, 3],
  ] as const) {
    nowMs = at
    t.ok(own().addresses.has(`read ${read}`), `${at} ms`)
  }
})

import t from 'tap'
import { createClientLimit } from '#gateway/http/identification/client-limit.ts'

const start = (burst = 3, perMinute = 6) => {
  const clock = { ms: 1000 }
  const limit = createClientLimit({ burst, perMinute, nowMs: () => clock.ms })
  const take = (network: string, site = network) => limit.take({ network, site })
  const giveBack = (network: string, site = network) => limit.giveBack({ network, site })
  return { clock, take, giveBack }
}

t.test('client limit: allows a burst, then the rate, and returns the seconds to wait', async (t) => {
  const { clock, take } = start()
  t.same([take('a'), take('a'), take('a'), take('a')], [0, 0, 0, 10])
  clock.ms += 4000
  t.equal(take('a'), 6, 'rejected requests cost no token')
  clock.ms += 6000
  t.same([take('a'), take('a')], [0, 10])
  clock.ms += 3_600_000
  t.same([take('a'), take('a'), take('a'), take('a')], [0, 0, 0, 10], 'a bucket never exceeds its size')
})

t.test('client limit: clients do not limit each other', async (t) => {
  const { take } = start(1)
  t.same([take('a'), take('b'), take('a')], [0, 0, 10])
})

t.test('client limit: rejected requests do not lengthen the wait beyond one token', async (t) => {
  const { take } = start()
  const waits = Array.from({ length: 1000 }, () => take('a'))
  t.equal(waits.filter((wait) => wait === 0).length, 3)
  t.equal(Math.max(...waits), 10)
})

t.test('client limit: a returned token can be taken again, and never overfills the bucket', async (t) => {
  const { take, giveBack } = start(1)
  t.same([take('a'), take('a')], [0, 10])
  giveBack('a')
  giveBack('a')
  t.same([take('a'), take('a')], [0, 10])
})

t.test('client limit: the networks of one site share eight times the limit of a network', async (t) => {
  const { clock, take, giveBack } = start(1)
  const waits = Array.from({ length: 100 }, (_, n) => take(`net ${n}`, 'site'))
  t.same([waits.filter((wait) => wait === 0).length, waits.at(-1)], [8, 2])
  t.equal(take('other'), 0, 'another site has its own limit')
  giveBack('net 0', 'site')
  t.equal(take('net 98', 'site'), 0)
  clock.ms += 1250
  t.same([take('net 99', 'site'), take('net 100', 'site')], [0, 2], 'eight times the rate')
})

t.test('client limit: many networks of one site evict no other site', async (t) => {
  const { take } = start(1000)
  const left = (network: string) => {
    let count = 0
    while (take(network) === 0) count += 1
    return count
  }
  t.equal(left('neighbour'), 1000)
  for (let n = 0; n < 65_536; n += 1) take(`net ${n}`, 'site')
  t.equal(left('neighbour'), 0)
})

t.test('client limit: evicts the least recently seen site above 10,000', async (t) => {
  const { take } = start(1)
  take('first')
  take('second')
  for (let count = 0; count < 9998; count += 1) take(`other ${count}`)
  t.equal(take('first'), 10, 'ten thousand are remembered')
  take('one more')
  t.equal(take('second'), 0, 'and no more')
  t.equal(take('first'), 10)
})

t.test('client limit: evicts the least recently seen network of a site', async (t) => {
  const { take } = start(100)
  for (let n = 0; n < 16; n += 1) for (let turn = 0; turn < 40; turn += 1) take(`net ${n}`, 'site')
  t.equal(take('net 0', 'site'), 0, 'its own bucket still has 59')
  for (let n = 0; n < 50; n += 1) take('net 0', 'site')
  t.equal(take('one more', 'site'), 0)
  for (let n = 0; n < 9; n += 1) t.equal(take('net 0', 'site'), 0)
  t.equal(take('net 0', 'site'), 10, 'net 0 was seen recently')
})

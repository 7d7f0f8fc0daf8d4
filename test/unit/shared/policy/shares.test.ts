import t from 'tap'
import { clientAt, parseHop } from '#shared/policy/client.ts'
import { accountHolder, clientHolders, Shares } from '#shared/policy/shares.ts'

const client = (address: string) => clientHolders(clientAt(parseHop(address)))
const isTaken = (outcome: Disposable | string) => typeof outcome !== 'string'

t.test('shares: one client gets a quarter, and leaves the rest to others', async (t) => {
  const shares = new Shares(100)
  t.ok(isTaken(shares.take(25, client('192.0.2.1'))))
  t.equal(shares.take(1, client('192.0.2.1')), 'client')
  for (const last of [2, 3, 4]) t.ok(isTaken(shares.take(25, client(`192.0.2.${last}`))))
  t.equal(shares.take(1, client('192.0.2.5')), 'all')
  t.equal(shares.count(), 100)
})

t.test('shares: the networks of an IPv6 site get a half together', async (t) => {
  const shares = new Shares(100)
  t.ok(isTaken(shares.take(25, client('2001:db8:0:1::1'))))
  t.equal(shares.take(1, client('2001:db8:0:1::2')), 'client', 'of the same /64')
  t.ok(isTaken(shares.take(25, client('2001:db8:0:2::1'))))
  t.equal(shares.take(1, client('2001:db8:0:3::1')), 'client', 'of the same /48')
  t.ok(isTaken(shares.take(25, client('2001:db8:1::1'))))
})

t.test('shares: an account gets a quarter, from whatever addresses', async (t) => {
  const shares = new Shares(100)
  const of = (address: string, account: string) => [...client(address), accountHolder(account)]
  t.ok(isTaken(shares.take(20, of('192.0.2.1', 'a'))))
  t.equal(shares.take(10, of('192.0.2.2', 'a')), 'account')
  t.ok(isTaken(shares.take(10, of('192.0.2.2', 'b'))))
})

t.test('shares: what was taken is given back once, and a refusal takes nothing', async (t) => {
  const shares = new Shares(8)
  const first = shares.take(2, client('192.0.2.1'))
  t.equal(shares.take(1, client('192.0.2.1')), 'client')
  if (typeof first === 'string') return t.fail('nothing was taken')
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  t.equal(shares.count(), 0)
  t.ok(isTaken(shares.take(2, client('192.0.2.1'))))
})

import t from 'tap'
import { type Lane, lanes } from '#shared/capture/lane.ts'
import { LaneTurns } from '#worker/delivery/lane-turns.ts'

/** The lanes of the captures that a slot serves in `count` turns while those in `waiting` have a backlog. */
const serve = (turns: LaneTurns, count: number, waiting: readonly Lane[]) =>
  Array.from({ length: count }, () => {
    const order = turns.next()
    const lane = order.find((each) => waiting.includes(each)) ?? 'interactive'
    turns.served(order, lane)
    return lane
  })

const interactive = (count: number) => Array.from({ length: count }, (): Lane => 'interactive')

/** Turns at their beginning, after a capture of each lower lane. */
const begin = () => {
  const turns = new LaneTurns('worker')
  turns.served(lanes, 'normal')
  turns.served(lanes, 'bulk')
  return turns
}

t.test('lane turns: a name always begins in the same way, and names are spread over all lanes', async (t) => {
  t.strictSame(new LaneTurns('proxied-abc').next(), new LaneTurns('proxied-abc').next())
  const first = Array.from({ length: 800 }, (_none, index) => new LaneTurns(`proxied-${index}`).next()[0])
  const count = (lane: string) => first.filter((each) => each === lane).length
  t.ok(count('interactive') > 500 && count('interactive') < 700, `${count('interactive')} begin at interactive`)
  t.ok(count('normal') > 50 && count('bulk') > 50, `${count('normal')} at normal, ${count('bulk')} at bulk`)
})

t.test('lane turns: each lower lane with a backlog has one turn of eight', async (t) => {
  for (let name = 0; name < 20; name += 1) {
    const turns = new LaneTurns(`worker-${name}`)
    for (let period = 0; period < 3; period += 1) {
      const served = serve(turns, 8, lanes).toSorted()
      t.strictSame(served, ['bulk', ...interactive(6), 'normal'])
    }
  }
  t.strictSame(serve(begin(), 8, ['interactive', 'bulk']), [...interactive(7), 'bulk'])
})

t.test(
  'lane turns: after a capture of a batch the more urgent lanes come first, whatever was served before',
  async (t) => {
    for (let before = 0; before < 20; before += 1) {
      const turns = begin()
      serve(turns, before, ['bulk'])
      t.not(turns.next()[0], 'bulk', `after ${before} captures of a batch`)
    }
  },
)

t.test('lane turns: a turn in which a lower lane had no capture counts as its turn', async (t) => {
  const turns = begin()
  serve(turns, 9, ['interactive'])
  t.equal(turns.next()[0], 'interactive')
})

t.test('lane turns: a slot that does not serve a lane leaves the turn of that lane to others', async (t) => {
  const turns = begin()
  const reserved = ['interactive', 'normal'] as const
  for (let turn = 0; turn < 9; turn += 1) t.notOk(turns.next(reserved).includes('bulk'))
  t.equal(turns.next()[0], 'bulk')
})

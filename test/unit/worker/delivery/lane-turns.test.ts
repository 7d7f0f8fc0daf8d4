import t from 'tap'
import { type Lane, lanes, reservedLanes } from '#shared/capture/lane.ts'
import { LaneTurns, type SlotTurns } from '#worker/delivery/lane-turns.ts'

/** The lanes of the captures that a slot serves in `count` turns while those in `waiting` have a backlog. */
const serve = (slot: SlotTurns, count: number, waiting: readonly Lane[]) =>
  Array.from({ length: count }, () => {
    const lane = slot.next().find((each) => waiting.includes(each)) ?? 'interactive'
    slot.served(lane)
    return lane
  })

const interactive = (count: number) => Array.from({ length: count }, (): Lane => 'interactive')

/** A worker whose slot has served a capture of each lower lane, and then an urgent one. */
const begin = () => {
  const turns = new LaneTurns('worker')
  const slot = turns.forSlot()
  for (const lane of ['bulk', 'normal', 'interactive'] as const) slot.served(lane)
  return { turns, slot }
}

t.test('lane turns: a name always begins in the same way, and names are spread over all lanes', async (t) => {
  const firstOf = (name: string) => new LaneTurns(name).forSlot().next()[0]
  t.equal(firstOf('proxied-abc'), firstOf('proxied-abc'))
  const first = Array.from({ length: 800 }, (_none, index) => firstOf(`proxied-${index}`))
  const count = (lane: string) => first.filter((each) => each === lane).length
  t.ok(count('interactive') > 500 && count('interactive') < 700, `${count('interactive')} begin at interactive`)
  t.ok(count('normal') > 50 && count('bulk') > 50, `${count('normal')} at normal, ${count('bulk')} at bulk`)
})

t.test('lane turns: each lower lane with a backlog has one turn of eight', async (t) => {
  for (let name = 0; name < 20; name += 1) {
    const slot = new LaneTurns(`worker-${name}`).forSlot()
    serve(slot, 8, lanes)
    for (let period = 0; period < 3; period += 1) {
      t.strictSame(serve(slot, 8, lanes).toSorted(), ['bulk', ...interactive(6), 'normal'])
    }
  }
  t.strictSame(serve(begin().slot, 8, ['interactive', 'bulk']), [...interactive(7), 'bulk'])
})

t.test(
  'lane turns: after a capture of a batch a slot pulls from the most urgent lane first, whatever was served before',
  async (t) => {
    for (let before = 1; before <= 20; before += 1) {
      const { slot } = begin()
      serve(slot, before, ['bulk'])
      t.equal(slot.next()[0], 'interactive', `after ${before} captures of a batch`)
    }
  },
)

t.test('lane turns: a batch has one turn of eight while only single captures have a backlog', async (t) => {
  const { slot } = begin()
  const served = serve(slot, 80, ['normal', 'bulk'])
  t.equal(served.filter((lane) => lane === 'bulk').length, 10)
})

t.test('lane turns: the turns of other slots do not make a slot serve two captures of a batch in a row', async (t) => {
  const { turns, slot } = begin()
  const other = turns.forSlot()
  for (let round = 0; round < 20; round += 1) {
    serve(other, 7, ['interactive'])
    const [first, second] = serve(slot, 2, lanes)
    t.notOk(first === 'bulk' && second !== 'interactive', `${first}, then ${second}`)
  }
})

t.test('lane turns: the only slot that is not reserved serves other captures between those of a batch', async (t) => {
  const { turns, slot } = begin()
  const reserved = turns.forSlot(reservedLanes)
  const served: Lane[] = []
  for (let round = 0; round < 40; round += 1) {
    serve(reserved, 7, ['interactive'])
    served.push(...serve(slot, 1, ['interactive', 'bulk']))
  }
  t.strictSame(
    served,
    Array.from({ length: 40 }, (_none, index) => (index % 2 === 0 ? 'bulk' : 'interactive')),
  )
})

t.test('lane turns: a turn in which a lower lane had no capture counts as its turn', async (t) => {
  const { slot } = begin()
  serve(slot, 9, ['interactive'])
  t.equal(slot.next()[0], 'interactive')
})

t.test('lane turns: a slot that does not serve a lane leaves the turn of that lane to others', async (t) => {
  const { turns, slot } = begin()
  const reserved = turns.forSlot(reservedLanes)
  for (let turn = 0; turn < 9; turn += 1) t.notOk(reserved.next().includes('bulk'))
  t.equal(slot.next()[0], 'bulk')
})

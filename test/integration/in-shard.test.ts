import t from 'tap'
import { inShard } from '#test/helpers/in-shard.ts'

const list = Array.from({ length: 10 }, (_, index) => index)

t.test('shards: the only one is the whole list', async (t) => {
  t.same(inShard(list, '1/1'), list)
})

t.test('shards: those of a list are disjoint, and together the whole', async (t) => {
  const shards = ['1/4', '2/4', '3/4', '4/4'].map((shard) => inShard(list, shard))
  t.same(shards[1], [1, 5, 9])
  t.same(
    shards.flat().toSorted((a, b) => a - b),
    list,
  )
})

t.test('shards: each of a list shorter than their number has an item', async (t) => {
  t.same(inShard([7], '4/4'), [7])
  t.same(inShard([], '4/4'), [])
})

t.test('shards: anything else is refused with an example', async (t) => {
  for (const shard of ['5/4', '0/4', '1', '-1/4', '1/0', ''])
    t.throws(() => inShard(list, shard), { message: `TEST_SHARD is "${shard}"; set it to` }, shard)
})

import t from 'tap'
import { createBatchedLoader } from '#gateway/db/batched-loader.ts'

t.test('batched loader: concurrent lookups share one read', async (t) => {
  const reads: (readonly string[])[] = []
  const look = createBatchedLoader(async (ids) => {
    reads.push(ids)
    return ids.filter((id) => id !== 'c').map((id) => ({ id }))
  }, 1)
  t.same(await Promise.all([look('a'), look('b'), look('a'), look('c')]), [
    { id: 'a' },
    { id: 'b' },
    { id: 'a' },
    undefined,
  ])
  t.same(await look('a'), { id: 'a' }, 'a later lookup reads again')
  t.same(reads, [['a', 'b', 'c'], ['a']])
})

t.test('batched loader: a failed read fails all its lookups; the next lookup reads again', async (t) => {
  let fails = true
  const look = createBatchedLoader(async (ids) => {
    if (fails) throw new Error('away')
    return ids.map((id) => ({ id }))
  }, 1)
  const both = await Promise.allSettled([look('a'), look('b')])
  t.same(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  fails = false
  t.same(await look('a'), { id: 'a' })
})

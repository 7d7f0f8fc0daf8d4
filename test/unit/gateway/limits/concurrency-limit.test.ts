import t from 'tap'
import { createConcurrencyLimit } from '#gateway/limits/concurrency-limit.ts'

t.test('concurrency limit: bounds the slots globally and per account, and frees each slot once', async (t) => {
  const places = createConcurrencyLimit({ max: 3, accountMax: 2 })
  const first = places.take('a')
  places.take('a')
  t.equal(places.take('a'), 'account')
  t.type(places.take('b'), 'object')
  t.equal(places.take('b'), 'all')
  if (typeof first === 'string') return t.fail(first)
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  t.equal(places.count(), 2)
  t.type(places.take('b'), 'object')
  t.equal(places.take('c'), 'all')
})

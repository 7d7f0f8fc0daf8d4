import t from 'tap'
import { createPlaces } from '#gateway/live/places.ts'

t.test('places are bounded for all and for each account, and become free once', async (t) => {
  const places = createPlaces({ max: 3, accountMax: 2 })
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

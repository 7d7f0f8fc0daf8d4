import t from 'tap'
import { createRequestLimit } from '#gateway/links/request-limit.ts'

const start = (burst = 3, perMinute = 6) => {
  const clock = { ms: 1000 }
  return { clock, limit: createRequestLimit({ burst, perMinute, nowMs: () => clock.ms }) }
}

t.test('a client may send a burst, then what its rate gives, and is told how long to wait', async (t) => {
  const { clock, limit } = start()
  t.same([limit('a'), limit('a'), limit('a'), limit('a')], [0, 0, 0, 10])
  clock.ms += 4000
  t.equal(limit('a'), 6, 'what is refused costs nothing')
  clock.ms += 6000
  t.same([limit('a'), limit('a')], [0, 10])
  clock.ms += 3_600_000
  t.same([limit('a'), limit('a'), limit('a'), limit('a')], [0, 0, 0, 10], 'a bucket is never more than full')
})

t.test('clients do not limit each other', async (t) => {
  const { limit } = start(1)
  t.same([limit('a'), limit('b'), limit('a')], [0, 0, 10])
})

t.test('of too many clients the one seen longest ago is forgotten', async (t) => {
  const { limit } = start(1)
  limit('first')
  limit('second')
  for (let count = 0; count < 9998; count += 1) limit(`other ${count}`)
  t.equal(limit('first'), 10, 'ten thousand are remembered')
  limit('one more')
  t.equal(limit('second'), 0, 'and no more')
  t.equal(limit('first'), 10)
})

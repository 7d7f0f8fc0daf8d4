import type { Readable } from 'node:stream'
import t from 'tap'
import { answerStream } from '#gateway/live/answer-stream.ts'
import { createPlaces } from '#gateway/live/places.ts'
import type { Tell } from '#gateway/live/tell-until-end.ts'
import { createTestContext, testKey } from '#test/helpers/gateway-context.ts'

const exchange = { headers: { authorization: `Bearer ${testKey}` } }
const of = { accountId: 'a', follows: 'a', gapMs: 0 }
const tell: Tell = async function* tell() {
  yield 'a'
  return 'over'
}
const withPlaces = (max: number, accountMax: number) => ({
  ...createTestContext(),
  streamPlaces: createPlaces({ max, accountMax }),
})

t.test('where all places are taken: 503 for everybody, 429 for the account that has too many', async (t) => {
  const full = withPlaces(0, 1)
  t.throws(() => answerStream(full, exchange, of, tell), { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 10 })
  const own = withPlaces(1, 0)
  t.throws(() => answerStream(own, exchange, of, tell), { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 10 })
})

t.test('a stream that has ended leaves its place', async (t) => {
  const context = withPlaces(1, 1)
  const { status, body } = answerStream(context, exchange, of, tell)
  t.equal(context.streamPlaces.count(), 1)
  t.same([status, (await Array.fromAsync(body as Readable)).join('')], [200, 'retry: 2000\n\na'])
  t.equal(context.streamPlaces.count(), 0)
})

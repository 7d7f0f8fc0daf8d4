import { mock } from 'node:test'
import t from 'tap'
import { answerStream } from '#gateway/live/answer-stream.ts'
import { createConcurrencyLimit } from '#gateway/limits/concurrency-limit.ts'
import type { ChangeReporter } from '#gateway/live/event-stream.ts'
import { createTestContext, testKey } from '#test/helpers/gateway-context.ts'

const headers = { authorization: `Bearer ${testKey}` }
const of = { accountId: 'a', wokenBy: 'a', gapMs: 0 }
const report: ChangeReporter = async function* report() {
  yield 'a'
  return 'over'
}
const withPlaces = (max: number, accountMax: number) => ({
  ...createTestContext(),
  streamLimit: createConcurrencyLimit({ max, accountMax }),
})

t.test('event streams: 503 at the global bound, 429 at the bound of the account', async (t) => {
  const full = withPlaces(0, 1)
  t.throws(() => answerStream(full, { headers, scopes: ['read'] }, of, report), {
    code: 'SERVICE_UNAVAILABLE',
    retryAfterSeconds: 10,
  })
  const own = withPlaces(1, 0)
  t.throws(() => answerStream(own, { headers, scopes: ['read'] }, of, report), {
    code: 'RATE_LIMIT_EXCEEDED',
    retryAfterSeconds: 10,
  })
})

t.test('event streams: a stream that has ended frees its slot', async (t) => {
  const context = withPlaces(1, 1)
  const { status, body } = answerStream(context, { headers, scopes: ['read'] }, of, report)
  t.equal(context.streamLimit.count(), 1)
  t.same([status, (await Array.fromAsync(body)).join('')], [200, 'retry: 2000\n\na'])
  t.equal(context.streamLimit.count(), 0)
})

t.test('event streams: a client that reads nothing is disconnected 30 s after the end of its stream', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const context = withPlaces(1, 1)
  const { body } = answerStream(context, { headers, scopes: ['read'] }, of, report)
  mock.timers.tick(context.streamMs + 29_999)
  t.equal(body.destroyed, false)
  mock.timers.tick(1)
  t.same([body.destroyed, context.streamLimit.count()], [true, 0])
})

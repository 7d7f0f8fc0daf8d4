import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { RequestError } from '#gateway/http/errors.ts'
import { LinkAttempts } from '#gateway/links/link-attempts.ts'
import { testCaller } from '#test/helpers/gateway-context.ts'

t.test('link attempts: concurrent views of one link have one capture accepted', async (t) => {
  const attempts = new LinkAttempts(() => 0)
  const gate = Promise.withResolvers<string>()
  let calls = 0
  const accept = () => {
    calls += 1
    return gate.promise
  }
  const views = [attempts.accept('a', accept), attempts.accept('a', accept), attempts.accept('b', accept)]
  gate.resolve('id')
  const own = (await Promise.all(views)).map(({ isOwn }) => isOwn)
  t.same([own, calls], [[true, false, true], 2])
  await attempts.accept('a', accept)
  t.equal(calls, 3, 'a later view is another attempt')
})

t.test('link attempts: a refusal is cached for its time, a fault of ours is not', async (t) => {
  let nowMs = 0
  const attempts = new LinkAttempts(() => nowMs)
  let calls = 0
  const refuse = (error: AppError) => () => {
    calls += 1
    return Promise.reject(new RequestError(error, { caller: testCaller }))
  }
  const limited = refuse(new AppError('RATE_LIMIT_EXCEEDED', { retryAfterSeconds: 9 }))
  const refused = (accept: () => Promise<string>) => t.rejects(attempts.accept('a', accept), { code: /./ })
  await refused(limited)
  nowMs = 8999
  await refused(limited)
  t.equal(calls, 1)
  nowMs = 9000
  await refused(refuse(new AppError('USAGE_LIMIT_EXCEEDED')))
  nowMs = 38_999
  await refused(limited)
  t.equal(calls, 2, 'thirty seconds without a time of its own')
  nowMs = 39_000
  const unavailable = refuse(new AppError('SERVICE_UNAVAILABLE', { retryAfterSeconds: 60 }))
  await refused(unavailable)
  await refused(unavailable)
  t.equal(calls, 4)
})

t.test('link attempts: an error has no facts of the account', async (t) => {
  const attempts = new LinkAttempts(() => 0)
  const error = new AppError('USAGE_LIMIT_EXCEEDED')
  const accept = () => Promise.reject(new RequestError(error, { caller: testCaller }))
  const thrown: unknown = await attempts.accept('a', accept).catch((each: unknown) => each)
  t.equal(thrown, error)
})

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { AcceptOutcome, AcceptRequest, NewCapture } from '#gateway/db/accept-capture.ts'
import { LockWaits } from '#gateway/db/lock-waits.ts'
import { RequestQueue } from '#gateway/db/request-queue.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { testCaller } from '#test/helpers/gateway-context.ts'

type Statement = {
  readonly urls: readonly (string | null)[]
  readonly waits: boolean
  readonly answer: (outcomes: readonly (AcceptOutcome | 'locked')[]) => void
  readonly fail: (error: AppError) => void
}

const someCapture: NewCapture = {
  id: '',
  keyHash: null,
  originHost: null,
  features: [],
  pool: 'standard',
  lane: 'normal',
  url: null,
  options: {},
  sealed: Buffer.of(),
  tokenHash: Buffer.of(),
  budgetMs: 50_000,
}
/** A request of a key whose hash begins with this byte; even ones go through the same statements. */
const request = (url: string, key = 0, sealedBytes = 1): AcceptRequest => ({
  capture: { ...someCapture, url, keyHash: Buffer.of(key), sealed: Buffer.alloc(sealedBytes) },
  counted: false,
})
const accepted = (createdAt: string): AcceptOutcome => ({ ok: true, caller: testCaller, createdAt, admitted: true })

/** A queue whose statements end when the test answers them. */
const openQueue = (poolMax = 100) => {
  const statements: Statement[] = []
  const clock = { nowMs: 0 }
  const answerLater = (requests: readonly AcceptRequest[], { waits }: { readonly waits: boolean }) => {
    const { promise, resolve: answer, reject: fail } = Promise.withResolvers<readonly (AcceptOutcome | 'locked')[]>()
    statements.push({ urls: requests.map(({ capture }) => capture.url), waits, answer, fail })
    return promise
  }
  const queue = new RequestQueue(answerLater, {
    lockWaits: new LockWaits(poolMax),
    identityOf: ({ capture }) => capture,
    bytesOf: ({ capture }) => capture.sealed.length,
    nowMs: () => clock.nowMs,
  })
  const sent = async () => {
    await turn()
    await turn()
    return statements.map(({ urls, waits }) => (waits ? `waiting for ${urls.join(' ')}` : urls.join(' ')))
  }
  const last = () => {
    const statement = statements.at(-1)
    if (!statement) throw new Error('no statement was sent')
    return statement
  }
  return { accept: (each: AcceptRequest) => queue.serve(each), sent, last, statements, clock }
}

t.test('request queue: requests that come while a statement runs share the next one', async (t) => {
  const { accept, sent, last } = openQueue()
  const outcomes = [accept(request('a')), accept(request('b'))]
  t.strictSame(await sent(), ['a b'], 'as those of one turn of the event loop do')
  outcomes.push(accept(request('c')), accept(request('d')))
  t.strictSame(await sent(), ['a b'])
  last().answer([accepted('a'), accepted('b')])
  t.strictSame(await sent(), ['a b', 'c d'])
  last().answer([accepted('c'), accepted('d')])
  t.match(
    await Promise.all(outcomes),
    ['a', 'b', 'c', 'd'].map((createdAt) => ({ createdAt })),
  )
})

t.test('request queue: a request whose line is free waits for no other one', async (t) => {
  const { accept, sent } = openQueue()
  for (const key of [0, 1, 2, 3, 4]) void accept(request(`${key}`, key))
  t.strictSame(await sent(), ['0 2 4', '1 3'])
})

t.test('request queue: a statement has at most 64 requests, and one large capture by itself', async (t) => {
  const { accept, sent, last, statements } = openQueue()
  for (let count = 0; count < 65; count += 1) void accept(request('x'))
  await sent()
  t.equal(last().urls.length, 64)
  last().answer(Array.from({ length: 64 }, () => accepted('x')))
  await sent()
  t.equal(last().urls.length, 1)
  void accept(request('small'))
  void accept(request('large', 0, 1_000_000))
  void accept(request('next'))
  last().answer([accepted('x')])
  await sent()
  t.strictSame(last().urls, ['small'])
  last().answer([accepted('small')])
  await sent()
  t.strictSame(last().urls, ['large'])
  t.equal(statements.length, 4)
})

t.test('request queue: a request that fails a statement fails alone', async (t) => {
  const { accept, sent, last } = openQueue()
  const outcomes = Promise.allSettled(['a', 'bad', 'c'].map((url) => accept(request(url))))
  await sent()
  const error = new AppError('SERVER_ERROR', { message: 'invalid byte sequence' })
  last().fail(error)
  await sent()
  last().answer([accepted('a')])
  await sent()
  last().fail(error)
  t.strictSame(await sent(), ['a bad c', 'a', 'bad', 'c'])
  last().answer([accepted('c')])
  t.match(await outcomes, [{ value: { createdAt: 'a' } }, { reason: error }, { value: { createdAt: 'c' } }])
})

t.test('request queue: a statement whose effect is unknown is not repeated', async (t) => {
  const { accept, sent, last } = openQueue()
  const outcomes = Promise.allSettled(['a', 'b'].map((url) => accept(request(url))))
  await sent()
  const error = new AppError('SERVICE_UNAVAILABLE', { message: 'the connection was lost' })
  last().fail(error)
  t.match(await outcomes, [{ reason: error }, { reason: error }])
  t.strictSame(await sent(), ['a b'])
  void accept(request('c'))
  t.strictSame(await sent(), ['a b', 'c'], 'later requests are accepted')
})

t.test('request queue: while an account is locked, only requests of its keys wait', async (t) => {
  const { accept, sent, last, statements } = openQueue()
  const [free, held] = [accept(request('free', 4)), accept(request('held', 0))]
  await sent()
  last().answer([accepted('free'), 'locked'])
  t.match(await free, { createdAt: 'free' })
  t.strictSame(await sent(), ['free held', 'waiting for held'])
  const [other, later] = [accept(request('other', 4)), accept(request('later', 0))]
  t.strictSame(await sent(), ['free held', 'waiting for held', 'other'])
  last().answer([accepted('other')])
  t.match(await other, { createdAt: 'other' })
  statements[1]?.answer([accepted('held')])
  t.match(await held, { createdAt: 'held' })
  t.strictSame((await sent()).at(-1), 'waiting for later')
  last().answer([accepted('later')])
  t.match(await later, { createdAt: 'later' })
  await sent()
  void accept(request('again', 0))
  t.strictSame((await sent()).at(-1), 'again', 'once none is left, the account is as any other')
})

t.test('request queue: beyond the bound of waiting statements, requests are tried again without waiting', async (t) => {
  const { accept, sent, last, statements } = openQueue(1)
  const outcomes = [accept(request('held', 0)), accept(request('brief', 2))]
  await sent()
  last().answer(['locked', 'locked'])
  t.strictSame(await sent(), ['held brief', 'waiting for held'])
  await eventually(() => statements.length === 3)
  t.strictSame((await sent()).at(-1), 'brief')
  last().answer(['locked'])
  await eventually(() => statements.length === 4)
  t.strictSame((await sent()).at(-1), 'brief')
  last().answer([accepted('brief')])
  t.match(await outcomes[1], { createdAt: 'brief' })
  statements[1]?.answer([accepted('held')])
  t.match(await outcomes[0], { createdAt: 'held' })
})

t.test('request queue: what has waited for five seconds is rejected and never sent', async (t) => {
  const { accept, sent, last, clock } = openQueue()
  void accept(request('running'))
  await sent()
  const late = Promise.allSettled([accept(request('late'))])
  clock.nowMs = 1
  const later = accept(request('later'))
  clock.nowMs = 5001
  last().answer([accepted('running')])
  t.match(await late, [{ reason: { code: 'SERVICE_UNAVAILABLE', message: /has waited for PostgreSQL for 5000 ms/ } }])
  t.strictSame(await sent(), ['running', 'later'])
  last().answer([accepted('later')])
  t.match(await later, { createdAt: 'later' })
})

t.test('request queue: at most a thousand requests wait for a statement', async (t) => {
  const { accept, sent } = openQueue()
  void accept(request('running'))
  await sent()
  for (let count = 0; count < 1000; count += 1) void accept(request('waiting'))
  await t.rejects(accept(request('one more')), { code: 'SERVICE_UNAVAILABLE', message: /^1000 requests wait/ })
})

t.test('request queue: after a lock time-out each caller waits by itself', async (t) => {
  const { accept, sent, last, statements, clock } = openQueue()
  const outcomes = Promise.allSettled([accept(request('held', 0)), accept(request('free', 4))])
  await sent()
  const timeout = new AppError('SERVICE_UNAVAILABLE', { message: 'lock', cause: { code: '55P03' } })
  clock.nowMs = 5001
  last().fail(timeout)
  t.strictSame(await sent(), ['held free', 'waiting for held', 'waiting for free'])
  statements[1]?.fail(timeout)
  statements[2]?.answer([accepted('free')])
  t.match(await outcomes, [{ reason: timeout }, { value: { createdAt: 'free' } }])
})

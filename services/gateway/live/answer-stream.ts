import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { identify } from '#gateway/http/identification/identify.ts'
import { type ChangeReporter, eventStream, type StreamBounds, streamUntilEnd } from './event-stream.ts'

const retryAfterSeconds = 10
/** Bounds of all streams. A key is checked every ten seconds, so that a look or two that take long still leave it under thirty. */
export const streamBounds = { lookMs: 2000, keyCheckMs: 10_000, heartbeatMs: 15_000 } as const
/** A client that has taken nothing for this long after the stream's time is let go. */
const graceMs = 30_000

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Reverse proxies would otherwise hold events back until there are enough of them.
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  // A stream that has ended leaves no connection behind for which a stopping server would have to wait.
  connection: 'close',
}

const takeSlot = ({ streamLimit }: Pick<Context, 'streamLimit'>, accountId: string): Disposable => {
  const slot = streamLimit.take(accountId)
  if (typeof slot !== 'string') return slot
  if (slot === 'all')
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'too many event streams are open', retryAfterSeconds })
  const publicMessage = 'Too many streams of events are open; close one first.'
  throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage, retryAfterSeconds })
}

/**
 * Answers with a stream of events, woken by the events of `follows`, a capture or an account, with `gapMs` between two
 * looks at least, for as long as the key of the request is valid. Throws `RATE_LIMIT_EXCEEDED` where the account has too
 * many streams open, `SERVICE_UNAVAILABLE` where this gateway has.
 */
export const answerStream = (
  context: Context,
  asked: Exchange['headers'],
  of: { readonly accountId: string; readonly follows: string; readonly gapMs: number },
  report: ChangeReporter,
) => {
  const { isStopping, captures } = context
  const keyHash = captures.hashKey(identify(asked).key)
  const isAuthorized = () => captures.isValidKey(keyHash)
  const slot = takeSlot(context, of.accountId)
  const follower = context.waiters.follow(of.follows)
  const bounds: StreamBounds = { ...streamBounds, gapMs: of.gapMs, lifeMs: context.streamMs }
  const texts = streamUntilEnd({ follower, isStopping, isAuthorized, bounds, ended: context.events.streamed }, report)
  const release = () => {
    slot[Symbol.dispose]()
    follower.wake()
    follower[Symbol.dispose]()
  }
  return { status: 200, headers, body: eventStream(texts, context.streamMs + graceMs, release) }
}

import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context.ts'
import type { Answer } from '#gateway/http/exchange.ts'
import { eventStream } from './event-stream.ts'
import { type StreamBounds, type Tell, tellUntilEnd } from './tell-until-end.ts'

const retryAfterSeconds = 10
const lookMs = 2000
const heartbeatMs = 15_000
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

const takePlace = ({ streamPlaces }: Pick<Context, 'streamPlaces'>, accountId: string): Disposable => {
  const place = streamPlaces.take(accountId)
  if (typeof place !== 'string') return place
  if (place === 'all')
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'all places for streams are taken', retryAfterSeconds })
  const publicMessage = 'Too many streams of events are open; close one first.'
  throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage, retryAfterSeconds })
}

/**
 * Answers with a stream of events, woken by the events of `follows`, a capture or an account, with `gapMs` between two
 * looks at least. Throws
 * `RATE_LIMIT_EXCEEDED` where the account has too many streams open, `SERVICE_UNAVAILABLE` where this gateway has.
 */
export const answerStream = (
  context: Context,
  of: { readonly accountId: string; readonly follows: string; readonly gapMs: number },
  tell: Tell,
): Answer => {
  const place = takePlace(context, of.accountId)
  const follower = context.waiters.follow(of.follows)
  const bounds: StreamBounds = { lookMs, gapMs: of.gapMs, heartbeatMs, lifeMs: context.streamMs }
  const { isStopping } = context
  const telling = tellUntilEnd({ follower, isStopping, bounds, ended: context.events.streamed }, tell)
  const release = () => {
    place[Symbol.dispose]()
    follower.wake()
    follower[Symbol.dispose]()
  }
  return { status: 200, headers, body: eventStream(telling, context.streamMs + graceMs, release) }
}

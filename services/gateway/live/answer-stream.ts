import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { identify } from '#gateway/http/identification/identify.ts'
import { type ChangeReporter, eventStream, type StreamBounds, streamUntilEnd } from './event-stream.ts'

const retryAfterSeconds = 10
/** Bounds of all streams. What a stream was opened with is checked before an event if the last check is 2 s old, and every 2 s without events. */
export const streamBounds = { pollMs: 2000, keyCheckMs: 2000, heartbeatMs: 15_000 } as const
/** A client that has not read the end of its stream this long after `streamMs` is disconnected. */
const graceMs = 30_000

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Otherwise reverse proxies would buffer events.
  'x-accel-buffering': 'no',
  'content-security-policy': "default-src 'none'; sandbox",
  // A stopping server need not wait for the connections of ended streams.
  connection: 'close',
}

/**
 * Takes one of the account's streams until it is disposed. Throws `RATE_LIMIT_EXCEEDED` if the account has too many open,
 * `SERVICE_UNAVAILABLE` if this gateway has.
 */
export const takeStream = ({ streamLimit }: Pick<Context, 'streamLimit'>, accountId: string): Disposable => {
  const slot = streamLimit.take(accountId)
  if (typeof slot !== 'string') return slot
  if (slot === 'all')
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'too many streams are open', retryAfterSeconds })
  const publicMessage = 'Too many streams are open; close one first.'
  throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage, retryAfterSeconds })
}

/**
 * Returns the check of whether the request would still be authorized for the account: its session or key has not ended, been
 * narrowed, or turned to another account.
 */
export const recheck = (
  { isAuthorized, hashKey }: Pick<Context, 'isAuthorized' | 'hashKey'>,
  request: Pick<Exchange, 'headers' | 'session' | 'scopes'>,
  accountId: string,
): (() => Promise<boolean>) => {
  const { keyHash, originHost } = identify(request, hashKey)
  const { scopes } = request
  return () => isAuthorized({ keyHash, originHost, accountId, scopes })
}

/**
 * Returns an event stream, woken by the events of the capture `id`, or of all captures of the account. It reads at most every `gapMs`
 * and ends when what authorized the request no longer does. Throws `RATE_LIMIT_EXCEEDED` if the account has too many streams
 * open, `SERVICE_UNAVAILABLE` if this gateway has.
 */
export const answerStream = (
  context: Context,
  request: Pick<Exchange, 'headers' | 'session' | 'scopes'>,
  options: { readonly accountId: string; readonly id?: string; readonly gapMs: number },
  report: ChangeReporter,
) => {
  const { isStopping } = context
  const isAuthorized = recheck(context, request, options.accountId)
  const slot = takeStream(context, options.accountId)
  const watcher = context.waiters.watch(options)
  const bounds: StreamBounds = { ...streamBounds, gapMs: options.gapMs, lifeMs: context.streamMs }
  const texts = streamUntilEnd({ watcher, isStopping, isAuthorized, bounds, ended: context.events.streamed }, report)
  const release = () => {
    slot[Symbol.dispose]()
    watcher.wake()
    watcher[Symbol.dispose]()
  }
  return { status: 200, headers, body: eventStream(texts, context.streamMs + graceMs, release) }
}

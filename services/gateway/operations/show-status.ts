import { isTerminal } from '#shared/capture/status.ts'
import { toRecord } from '#shared/db/record.ts'
import type { Context } from '#gateway/context.ts'
import { authorize } from '#gateway/http/authorize.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { pathId } from '#gateway/http/path-id.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import { waitForEnd } from '#gateway/wait/wait-for-end.ts'
import { waitSeconds } from '#gateway/wait/wait-seconds.ts'
import { findOwned } from './find-owned.ts'
import type { Operation } from './operation.ts'

/** Waits for the end of a capture; its record as it then is. Where too many wait already, as it is now. */
const findLater = async (context: Context, exchange: Exchange, waitMs: number) => {
  const { accountId } = await authorize(context, exchange)
  const id = pathId(exchange)
  // Listening begins before the first look, so that no end falls between them.
  using follower = context.waiters.follow(id)
  const now = await findOwned(context, exchange)
  const place = isTerminal(now.status) ? 'all' : context.waitPlaces.take(accountId)
  if (typeof place === 'string') return now
  using _held = place
  using client = exchange.watchClient()
  client.signal.addEventListener('abort', follower.wake)
  // What a gateway that stops has to say is no less than what it would say after its drain.
  const waiters = { isStopping: () => client.signal.aborted || context.isStopping() }
  const ended = await waitForEnd({ captures: context.captures, waiters }, follower, { id, accountId }, waitMs)
  return ended === 'goes-on' ? await findOwned(context, exchange) : ended.capture
}

/** `GET /screenshots/{id}`: the record of a capture; with `wait`, once it has ended or that many seconds are over. */
export const showStatus: Operation = async (context, exchange) => {
  await authorize(context, exchange)
  const waitMs = waitSeconds(readPlainQuery(exchange.query, ['wait']).wait) * 1000
  const capture = await (waitMs > 0 ? findLater(context, exchange, waitMs) : findOwned(context, exchange))
  return { status: 200, body: { data: toRecord(capture, context.publicUrl()) } }
}

import { isTerminal } from '#shared/capture/status.ts'
import { toRecord } from '#shared/db/record.ts'
import { integer, object } from '#shared/schema/fields.ts'
import { type CaptureRef, findRecord, type Records } from '#gateway/db/captures.ts'
import { waitForEnd } from '#gateway/queue/waiters.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { screenshotAnswer } from '#gateway/records/capture.ts'
import { forCaller } from '#gateway/operations/operation.ts'
import { orNotFound } from '#gateway/http/errors.ts'

/** Waits for the end of a capture, at most `waitMs`, and returns it. Does not wait if too many requests wait already. */
const findLater = async (
  context: Records & Pick<Context, 'waiters' | 'waitLimit' | 'isStopping'>,
  ref: CaptureRef,
  waitMs: number,
  watchClient: Exchange['watchClient'],
) => {
  const find = () => findRecord(context, ref)
  // Watch before the first read, so that no end is missed in between.
  using watcher = context.waiters.watch(ref)
  const now = orNotFound(await find())
  const permit = isTerminal(now.status) ? 'all' : context.waitLimit.take(ref.accountId)
  if (typeof permit === 'string') return now
  using _held = permit
  // A stopping gateway need not wait: the current record is a complete response.
  const { isStopping } = context
  const ended = await waitForEnd({ find, isStopping, watchClient }, watcher, waitMs)
  return ended === 'accepted' ? orNotFound(await find()) : ended.capture
}

/** Returns the record of a capture; with `wait`, once it has ended or after that many seconds. */
export const showStatus = forCaller({
  name: 'status',
  method: 'GET',
  path: '/screenshots/:id',
  scopes: ['capture', 'read'],
  tag: 'Screenshots',
  summary: 'Show a screenshot',
  description:
    'Returns the current record; with `wait`, as soon as the capture has ended, at the latest after that many seconds.',
  query: object({ wait: integer(0, 60, 'Maximum number of seconds to wait for the capture to end.', { default: 0 }) }),
  answers: { 200: jsonAnswer('The screenshot.', screenshotAnswer) },
  run: async (context, { caller, id, query, watchClient }) => {
    const ref = { id, accountId: caller.accountId }
    const capture = await (query.wait > 0
      ? findLater(context, ref, query.wait * 1000, watchClient)
      : orNotFound(await findRecord(context, ref)))
    return { status: 200, body: { data: toRecord(capture, context.publicUrl()) }, waited: query.wait > 0 }
  },
})

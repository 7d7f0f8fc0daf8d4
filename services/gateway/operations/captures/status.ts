import { isTerminal } from '#shared/capture/status.ts'
import { toRecord } from '#shared/db/record.ts'
import { integer, object } from '#shared/schema/fields.ts'
import { waitForEnd } from '#gateway/queue/waiters.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { screenshotAnswer } from '#gateway/records/capture.ts'
import { forCaller } from '#gateway/operations/operation.ts'
import { orNotFound } from '#gateway/http/errors.ts'

type Of = { readonly id: string; readonly accountId: string }

/** Waits for the end of a capture, at most `waitMs`, and returns it. Does not wait if too many requests wait already. */
const findLater = async (context: Context, of: Of, waitMs: number, watchClient: Exchange['watchClient']) => {
  // Watch before the first read, so that no end is missed in between.
  using watcher = context.waiters.watch(of.id)
  const now = orNotFound(await context.captures.find(of))
  const permit = isTerminal(now.status) ? 'all' : context.waitLimit.take(of.accountId)
  if (typeof permit === 'string') return now
  using _held = permit
  using client = watchClient()
  client.signal.addEventListener('abort', watcher.wake)
  // A stopping gateway need not wait: the current record is a complete response.
  const waiters = { isStopping: () => client.signal.aborted || context.isStopping() }
  const ended = await waitForEnd({ captures: context.captures, waiters }, watcher, of, waitMs)
  return ended === 'accepted' ? orNotFound(await context.captures.find(of)) : ended.capture
}

/** Returns the record of a capture; with `wait`, once it has ended or after that many seconds. */
export const showStatus = forCaller({
  name: 'status',
  method: 'GET',
  path: '/screenshots/:id',
  tag: 'Screenshots',
  summary: 'Show a screenshot',
  description:
    'Returns the current record; with `wait`, as soon as the capture has ended, at the latest after that many seconds.',
  query: object({ wait: integer(0, 60, 'Maximum number of seconds to wait for the capture to end.', { default: 0 }) }),
  answers: { 200: jsonAnswer('The screenshot.', screenshotAnswer) },
  run: async (context, { caller, id, query, watchClient }) => {
    const of = { id, accountId: caller.accountId }
    const capture = await (query.wait > 0
      ? findLater(context, of, query.wait * 1000, watchClient)
      : orNotFound(await context.captures.find(of)))
    return { status: 200, body: { data: toRecord(capture, context.publicUrl()) } }
  },
})

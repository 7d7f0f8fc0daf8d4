import { toRecord } from '#shared/db/record.ts'
import { authorize } from '#gateway/http/authorize.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import { answerStream } from '#gateway/live/answer-stream.ts'
import { lastId } from '#gateway/live/event-text.ts'
import { tellCapture } from '#gateway/live/tell-capture.ts'
import { findOwned } from './find-owned.ts'
import type { Operation } from './operation.ts'

/** `GET /screenshots/{id}/events`: what becomes of a capture, as server-sent events, up to its record at the end. */
export const captureEvents: Operation = async (context, exchange) => {
  await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  const { id, accountId } = await findOwned(context, exchange)
  // The answer at which clients of such streams stop connecting again.
  if (exchange.headers['last-event-id'] === lastId) return { status: 204 }
  const tell = tellCapture(
    {
      look: context.lookAtProgress,
      find: () => context.captures.find({ id, accountId }),
      toRecord: (capture) => toRecord(capture, context.publicUrl()),
    },
    id,
  )
  return answerStream(context, exchange, { accountId, follows: id, gapMs: 0 }, tell)
}

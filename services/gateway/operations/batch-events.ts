import { AppError } from '#shared/errors/app-error.ts'
import { toRecord } from '#shared/db/record.ts'
import { authorize } from '#gateway/http/authorize.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import { answerStream } from '#gateway/live/answer-stream.ts'
import { lastId } from '#gateway/live/event-text.ts'
import { tellBatch } from '#gateway/live/tell-batch.ts'
import { toldMembers } from '#gateway/live/told-members.ts'
import { pathId } from '#gateway/http/path-id.ts'
import type { Operation } from './operation.ts'

/** Least milliseconds between two looks: each capture of the account that ends asks for one. */
const gapMs = 250

/** `GET /screenshots/batch/{id}/events`: what becomes of a batch, as server-sent events, each capture at its end. */
export const batchEvents: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  const id = pathId(exchange)
  const look = () => context.captures.findBatch({ id, accountId })
  if (!(await look())) throw new AppError('NOT_FOUND')
  const { 'last-event-id': lastSeen } = exchange.headers
  if (lastSeen === lastId) return { status: 204 }
  const tell = tellBatch(
    {
      look,
      find: (member) => context.captures.find({ id: member, accountId }),
      toRecord: (capture) => toRecord(capture, context.publicUrl()),
    },
    id,
    toldMembers(typeof lastSeen === 'string' ? lastSeen : undefined),
  )
  return answerStream(context, exchange, { accountId, follows: accountId, gapMs }, tell)
}

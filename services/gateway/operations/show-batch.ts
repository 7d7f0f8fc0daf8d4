import { AppError } from '#shared/errors/app-error.ts'
import { toBatchRecord } from '#gateway/answer/batch-record.ts'
import { authorize } from '#gateway/http/authorize.ts'
import { pathId } from '#gateway/http/path-id.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import type { Operation } from './operation.ts'

/** `GET /screenshots/batch/{id}`: a batch and its captures as they are now. */
export const showBatch: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  const batch = await context.captures.findBatch({ id: pathId(exchange), accountId })
  if (!batch) throw new AppError('NOT_FOUND')
  return { status: 200, body: { data: toBatchRecord(batch) } }
}

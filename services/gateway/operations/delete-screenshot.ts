import { AppError } from '#shared/errors/app-error.ts'
import { authorize } from '#gateway/http/authorize.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import { pathId } from '#gateway/http/path-id.ts'
import type { Operation } from './operation.ts'

/**
 * `DELETE /screenshots/{id}`: deletes a capture in whatever state it is. What the queue and the object store hold of it is
 * taken away by the ledger; for clients it is gone with the answer. A body is not looked at.
 */
export const deleteScreenshot: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  if (!(await context.captures.remove({ id: pathId(exchange), accountId }))) throw new AppError('NOT_FOUND')
  // It may have made room in the account's window.
  context.publisher.nudge()
  return { status: 204 }
}

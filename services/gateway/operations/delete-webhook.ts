import { AppError } from '#shared/errors/app-error.ts'
import { authorize } from '#gateway/http/authorize.ts'
import { pathId } from '#gateway/http/path-id.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import type { Operation } from './operation.ts'

/** `DELETE /webhooks/{id}`: deletes a webhook, its log, and what still waits to be delivered. */
export const deleteWebhook: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  if (!(await context.webhooks.delete({ accountId, id: pathId(exchange) }))) throw new AppError('NOT_FOUND')
  return { status: 204 }
}

import { AppError } from '#shared/errors/app-error.ts'
import { authorize } from '#gateway/http/authorize.ts'
import { pathId } from '#gateway/http/path-id.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import type { Operation } from './operation.ts'

/** `POST /webhooks/{id}/test`: queues a `webhook.test` delivery and answers its id. */
export const testWebhook: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  const id = await context.webhooks.test({ accountId, id: pathId(exchange) })
  if (id === undefined) throw new AppError('NOT_FOUND')
  return { status: 202, body: { data: { id } } }
}

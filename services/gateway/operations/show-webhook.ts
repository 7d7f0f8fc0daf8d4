import { AppError } from '#shared/errors/app-error.ts'
import { authorize } from '#gateway/http/authorize.ts'
import { pathId } from '#gateway/http/path-id.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import type { Operation } from './operation.ts'

/** `GET /webhooks/{id}`: one webhook, without its secret. */
export const showWebhook: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  const webhook = await context.webhooks.find({ accountId, id: pathId(exchange) })
  if (!webhook) throw new AppError('NOT_FOUND')
  return { status: 200, body: { data: webhook } }
}

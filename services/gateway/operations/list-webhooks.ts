import { authorize } from '#gateway/http/authorize.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import type { Operation } from './operation.ts'

/** `GET /webhooks`: all webhooks of the account, the oldest first. */
export const listWebhooks: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  return { status: 200, body: { data: await context.webhooks.list(accountId) } }
}

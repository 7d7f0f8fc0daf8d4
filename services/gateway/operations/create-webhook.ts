import { authorize } from '#gateway/http/authorize.ts'
import { readJson } from '#gateway/http/read-parameters.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import { readNewWebhook } from '#gateway/webhooks/webhook-parameters.ts'
import type { Operation } from './operation.ts'

/** `POST /webhooks`: makes a webhook and answers it with its secret, this once. */
export const createWebhook: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  const fields = readNewWebhook(await readJson(exchange), context.allowTargets)
  const { webhook, secret } = await context.webhooks.create(accountId, fields)
  return { status: 200, body: { data: { ...webhook, secret } } }
}

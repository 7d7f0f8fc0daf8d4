import { AppError } from '#shared/errors/app-error.ts'
import { authorize } from '#gateway/http/authorize.ts'
import { pathId } from '#gateway/http/path-id.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import { readJson } from '#gateway/http/read-parameters.ts'
import { readWebhookChange } from '#gateway/webhooks/webhook-parameters.ts'
import type { Operation } from './operation.ts'

/** `PATCH /webhooks/{id}`: changes what is given of a webhook, and answers all of it. */
export const changeWebhook: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  const fields = readWebhookChange(await readJson(exchange), context.allowTargets)
  const webhook = await context.webhooks.change({ accountId, id: pathId(exchange) }, fields)
  if (!webhook) throw new AppError('NOT_FOUND')
  return { status: 200, body: { data: webhook } }
}

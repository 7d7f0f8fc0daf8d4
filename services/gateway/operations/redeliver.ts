import { AppError } from '#shared/errors/app-error.ts'
import type { DeliveriesOf } from '#shared/db/deliveries.ts'
import type { Context } from '#gateway/context.ts'
import { authorize } from '#gateway/http/authorize.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { pathId } from '#gateway/http/path-id.ts'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import type { Operation } from './operation.ts'

const again = async (context: Context, exchange: Exchange, of: DeliveriesOf) => {
  const id = pathId(exchange, 'delivery_id')
  if (!(await context.webhooks.redeliver(of, id))) throw new AppError('NOT_FOUND')
  return { status: 202, body: { data: { id } } }
}

/** `POST /webhooks/{id}/deliveries/{delivery_id}/redeliver`: has a delivery sent again at once, with the same body. */
export const redeliverOfWebhook: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  return again(context, exchange, { accountId, webhookId: pathId(exchange) })
}

/** `POST /screenshots/{id}/deliveries/{delivery_id}/redeliver`: the same, for a delivery of either kind about a capture. */
export const redeliverOfCapture: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  readPlainQuery(exchange.query, [])
  return again(context, exchange, { accountId, captureId: pathId(exchange) })
}

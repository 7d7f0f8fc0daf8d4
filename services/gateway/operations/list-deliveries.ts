import { AppError } from '#shared/errors/app-error.ts'
import type { DeliveriesOf, DeliveryPage } from '#shared/db/deliveries.ts'
import type { Context } from '#gateway/context.ts'
import { authorize } from '#gateway/http/authorize.ts'
import { pathId } from '#gateway/http/path-id.ts'
import { readDeliveryPage, showDeliveries } from '#gateway/webhooks/delivery-page.ts'
import { findOwned } from './find-owned.ts'
import type { Operation } from './operation.ts'

/** One more than a page holds, so that its end is known. */
const list = async (context: Context, of: DeliveriesOf, page: DeliveryPage) => {
  const found = await context.webhooks.deliveries(of, { ...page, limit: page.limit + 1 })
  return { status: 200, body: showDeliveries(found, page.limit) }
}

/** `GET /webhooks/{id}/deliveries`: what was sent to a webhook, newest first. */
export const listWebhookDeliveries: Operation = async (context, exchange) => {
  const { accountId } = await authorize(context, exchange)
  const page = readDeliveryPage(exchange.query)
  const webhook = await context.webhooks.find({ accountId, id: pathId(exchange) })
  if (!webhook) throw new AppError('NOT_FOUND')
  return list(context, { accountId, webhookId: webhook.id }, page)
}

/** `GET /screenshots/{id}/deliveries`: what was sent about a capture, to its own address and to webhooks, newest first. */
export const listCaptureDeliveries: Operation = async (context, exchange) => {
  await authorize(context, exchange)
  const page = readDeliveryPage(exchange.query)
  const { id, accountId } = await findOwned(context, exchange)
  return list(context, { accountId, captureId: id }, page)
}

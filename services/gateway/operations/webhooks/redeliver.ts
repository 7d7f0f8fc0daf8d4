import type { DeliveriesOf } from '#gateway/db/deliveries.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context.ts'
import type { Answer } from '#gateway/http/answer.ts'
import { jsonAnswer } from '#gateway/openapi/contract.ts'
import { type ErrorSet, usualErrors } from '#gateway/openapi/errors.ts'
import { forCaller } from '#gateway/operations/operation.ts'

const answers = { 202: jsonAnswer('Queued.', 'QueuedDeliveryAnswer', ['Idempotent-Replayed']) }
const errors: readonly ErrorSet[] = [...usualErrors, 'Forbidden', 'NotFound', 'InvalidOrRepeated']
const deliveryId = 'Id of the delivery.'

const redeliver = async (context: Context, of: DeliveriesOf, id: string): Promise<Answer> => {
  if (!(await context.webhooks.redeliver(of, id))) throw new AppError('NOT_FOUND')
  return { status: 202, body: { data: { id } } }
}

/** Has a delivery to a webhook sent again at once, with the same body. */
export const redeliverOfWebhook = forCaller({
  name: 'webhook_redeliver',
  method: 'POST',
  path: '/webhooks/:id/deliveries/:delivery_id/redeliver',
  tag: 'Webhooks',
  summary: 'Send a delivery again',
  description: 'Sends the same body with the same id at once, and begins its schedule anew.',
  ids: { id: 'Id of the webhook.', delivery_id: deliveryId },
  answers,
  errors,
  run: (context, { caller: { accountId }, id: webhookId, ...request }) =>
    redeliver(context, { accountId, webhookId }, request.deliveryId),
})

/** The same, for a delivery of either kind about a capture. */
export const redeliverOfCapture = forCaller({
  name: 'capture_redeliver',
  method: 'POST',
  path: '/screenshots/:id/deliveries/:delivery_id/redeliver',
  tag: 'Webhooks',
  summary: "Send a screenshot's delivery again",
  description: 'As for a delivery of a webhook, for either kind.',
  ids: { id: 'Id of the screenshot.', delivery_id: deliveryId },
  answers,
  errors,
  run: (context, { caller: { accountId }, id: captureId, ...request }) =>
    redeliver(context, { accountId, captureId }, request.deliveryId),
})

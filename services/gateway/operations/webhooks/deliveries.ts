import type { Static } from 'typebox'
import { findSealedCapture } from '#shared/db/find-capture.ts'
import { object, optional, text } from '#shared/schema/fields.ts'
import { type DeliveryOwner, listDeliveries, redeliver } from '#gateway/db/deliveries.ts'
import { findWebhook } from '#gateway/db/webhooks.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import type { Context } from '#gateway/context/context.ts'
import { checkNextCursor, cursorPage, positionAfter } from '#gateway/http/cursor-page.ts'
import { type CheckInput, perPageParameter } from '#gateway/http/input.ts'
import { jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { type Delivery, deliveryPage, queuedDeliveryAnswer } from '#gateway/records/delivery.ts'
import { forCaller, type Operation } from '#gateway/operations/operation.ts'

const parameters = object({
  per_page: perPageParameter('Number of deliveries per page.'),
  ...optional({ cursor: text('`meta.next_cursor` of an earlier page.') }),
})
type Page = Static<typeof parameters>

const answers = { 200: jsonAnswer('A page of deliveries.', deliveryPage) }

const checkPage: CheckInput<Page> = ({ cursor }, errors) => checkNextCursor(cursor, errors)

const positionOf = ({ created_at: createdAt, id }: Delivery) => ({ createdAt, id })

const list = async (context: Context, owner: DeliveryOwner, { per_page: limit, cursor }: Page) => {
  const found = await listDeliveries(context, owner, { limit: limit + 1, before: positionAfter(cursor) })
  return { status: 200, body: cursorPage(found, limit, positionOf) }
}

const queued = { 202: jsonAnswer('Queued.', queuedDeliveryAnswer, ['Idempotent-Replayed']) }

const queueAgain = async ({ database }: Context, owner: DeliveryOwner, id: string) => {
  orNotFound(await redeliver(database, owner, id))
  return { status: 202, body: { data: { id } } }
}

/** Deliveries of a webhook: list, redeliver. */
export const webhookDeliveryOperations: readonly Operation[] = [
  forCaller({
    name: 'webhook_deliveries',
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    scopes: ['read'],
    tag: 'Webhooks',
    summary: "List a webhook's deliveries",
    description: 'Lists the deliveries to a webhook in the last 30 days, newest first, with their attempts.',
    query: parameters,
    checkQuery: checkPage,
    answers,
    run: async (context, { caller: { accountId }, id, query }) => {
      const webhook = orNotFound(await findWebhook(context, { accountId, id }))
      return list(context, { accountId, webhookId: webhook.id }, query)
    },
  }),
  forCaller({
    name: 'webhook_redeliver',
    method: 'POST',
    path: '/webhooks/:id/deliveries/:delivery_id/redeliver',
    scopes: ['manage'],
    tag: 'Webhooks',
    summary: 'Redeliver a delivery',
    description:
      'Sends the same body with the same id immediately, to the present URL of the webhook, and restarts the retry schedule.',
    answers: queued,
    run: (context, { caller: { accountId }, id: webhookId, ...request }) =>
      queueAgain(context, { accountId, webhookId }, request.deliveryId),
  }),
]

/** Deliveries of a capture, to its `webhook_url`, to webhooks and to an upload destination: list, redeliver. */
export const captureDeliveryOperations: readonly Operation[] = [
  forCaller({
    name: 'capture_deliveries',
    method: 'GET',
    path: '/screenshots/:id/deliveries',
    scopes: ['read'],
    tag: 'Webhooks',
    summary: "List a screenshot's deliveries",
    description:
      'Lists the deliveries for a screenshot, to the `webhook_url` of its request, to webhooks and to an upload destination, newest first.',
    query: parameters,
    checkQuery: checkPage,
    answers,
    run: async (context, { caller: { accountId }, id, query }) => {
      const capture = orNotFound(await findSealedCapture(context.database, { id, accountId }))
      return list(context, { accountId, captureId: capture.id }, query)
    },
  }),
  forCaller({
    name: 'capture_redeliver',
    method: 'POST',
    path: '/screenshots/:id/deliveries/:delivery_id/redeliver',
    scopes: ['manage'],
    tag: 'Webhooks',
    summary: "Redeliver a screenshot's delivery",
    description:
      'Redelivers to the `webhook_url` of the request, to a webhook at its present URL, or uploads again: sends the same body with the same id immediately, and restarts the retry schedule. 404 if the webhook or upload destination was deleted.',
    answers: queued,
    run: (context, { caller: { accountId }, id: captureId, ...request }) =>
      queueAgain(context, { accountId, captureId }, request.deliveryId),
  }),
]

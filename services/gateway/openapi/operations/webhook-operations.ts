import type { ErrorSet } from '#gateway/openapi/error-sets.ts'
import { examples } from '#gateway/openapi/examples.ts'
import {
  emptyAnswer,
  idempotencyKey,
  jsonAnswer,
  type OperationDoc,
  pathParameter,
  queryParameter,
  usualErrors,
} from '#gateway/openapi/operation-doc.ts'

const tag = 'Webhooks'
const webhookId = pathParameter('id', 'Id of the webhook.')
const screenshotId = pathParameter('id', 'Id of the screenshot.')
const deliveryId = pathParameter('delivery_id', 'Id of the delivery.')
const pageParameters = [
  queryParameter('per_page', 'Deliveries of a page.', { type: 'integer', minimum: 1, maximum: 100, default: 20 }),
  queryParameter('cursor', '`meta.next_cursor` of an earlier page.', { type: 'string' }),
]
const ownErrors: readonly ErrorSet[] = [...usualErrors, 'Forbidden', 'NotFound', 'Invalid']
/** Those of a POST, which may be sent again. */
const postErrors: readonly ErrorSet[] = [...usualErrors, 'Forbidden', 'NotFound', 'InvalidOrRepeated']
const queued = jsonAnswer('Queued.', 'QueuedDeliveryAnswer', examples.queued, ['Idempotent-Replayed'])
const url = 'https://hooks.example.com/shots'

/** Webhooks of the account, and the log of what was sent. */
export const webhookOperations = {
  webhook_list: {
    tag,
    summary: 'List webhooks',
    description: 'All webhooks of the account, the oldest first.',
    answers: { 200: jsonAnswer('The webhooks.', 'WebhookList', examples.webhooks) },
    errors: [...usualErrors, 'Forbidden', 'Invalid'],
  },
  webhook_create: {
    tag,
    summary: 'Create a webhook',
    description:
      'Sends events of the account to an address. What is sent is signed with the `secret` of this answer, in `X-Webhook-Signature` and by Standard Webhooks.',
    parameters: [idempotencyKey],
    body: { schema: 'NewWebhook', example: { url, description: 'Production' } },
    answers: {
      200: jsonAnswer(
        'The webhook with its secret, this once.',
        'WebhookWithSecretAnswer',
        examples.webhookWithSecret,
        ['Idempotent-Replayed'],
      ),
    },
    errors: [...usualErrors, 'ForbiddenFeature', 'InvalidOrRepeated', 'TooLarge'],
  },
  webhook_show: {
    tag,
    summary: 'Show a webhook',
    description: 'One webhook, without its secret.',
    parameters: [webhookId],
    answers: { 200: jsonAnswer('The webhook.', 'WebhookAnswer', examples.webhook) },
    errors: ownErrors,
  },
  webhook_change: {
    tag,
    summary: 'Change a webhook',
    description:
      'Changes what is given. What still waits is sent to a new address, and given up where it is switched off.',
    parameters: [webhookId],
    body: { schema: 'WebhookChange', example: { active: false } },
    answers: { 200: jsonAnswer('The webhook.', 'WebhookAnswer', examples.webhook) },
    errors: [...ownErrors, 'TooLarge'],
  },
  webhook_delete: {
    tag,
    summary: 'Delete a webhook',
    description: 'Deletes a webhook, its log, and what still waits to be sent.',
    parameters: [webhookId],
    answers: { 204: emptyAnswer('Deleted.') },
    errors: ownErrors,
  },
  webhook_test: {
    tag,
    summary: 'Test a webhook',
    description: 'Queues a `webhook.test` event.',
    parameters: [webhookId, idempotencyKey],
    answers: { 202: queued },
    errors: [...usualErrors, 'ForbiddenFeature', 'NotFound', 'InvalidOrRepeated'],
  },
  webhook_rotate_secret: {
    tag,
    summary: 'Rotate the secret',
    description: 'Makes a new secret. What is sent is signed with the one before too, for 24 hours.',
    parameters: [webhookId, idempotencyKey],
    answers: {
      200: jsonAnswer(
        'The webhook with its new secret, this once.',
        'WebhookWithSecretAnswer',
        examples.webhookWithSecret,
        ['Idempotent-Replayed'],
      ),
    },
    errors: postErrors,
  },
  webhook_deliveries: {
    tag,
    summary: "List a webhook's deliveries",
    description: 'What was sent to a webhook in the last 30 days, newest first, with every attempt.',
    parameters: [webhookId, ...pageParameters],
    answers: { 200: jsonAnswer('A page of deliveries.', 'DeliveryPage', examples.deliveries) },
    errors: ownErrors,
  },
  webhook_redeliver: {
    tag,
    summary: 'Send a delivery again',
    description: 'Sends the same body with the same id at once, and begins its schedule anew.',
    parameters: [webhookId, deliveryId, idempotencyKey],
    answers: { 202: queued },
    errors: postErrors,
  },
  capture_deliveries: {
    tag,
    summary: "List a screenshot's deliveries",
    description: "What was sent about a screenshot, to its request's `webhook_url` and to webhooks, newest first.",
    parameters: [screenshotId, ...pageParameters],
    answers: { 200: jsonAnswer('A page of deliveries.', 'DeliveryPage', examples.deliveries) },
    errors: ownErrors,
  },
  capture_redeliver: {
    tag,
    summary: "Send a screenshot's delivery again",
    description: 'As for a delivery of a webhook, for either kind.',
    parameters: [screenshotId, deliveryId, idempotencyKey],
    answers: { 202: queued },
    errors: postErrors,
  },
} as const satisfies Record<string, OperationDoc>

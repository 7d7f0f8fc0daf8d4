import { type Failure, failures } from '#shared/errors/delivery-failures.ts'
import { url, count, id, timestamp, orNull, perPageMax, text, enumSchema } from '#gateway/openapi/schema/fields.ts'
import {
  components,
  inEnvelope,
  list,
  object,
  partOf,
  typed,
  type TypeOf,
} from '#gateway/openapi/schema/json-schema.ts'
import { exampleIds, exampleTimes } from '#gateway/openapi/schema/example-values.ts'

/** Events that a webhook may subscribe to. More may be added; receivers should ignore unknown ones. */
export const webhookEvents = [
  'screenshot.completed',
  'screenshot.failed',
  'batch.completed',
  'quota.warning',
  'webhook.test',
] as const

/** Name of an event. */
export type WebhookEvent = (typeof webhookEvents)[number]

/** Maximum webhooks of an account. */
export const webhooksMax = 20

/** Maximum attempts listed per delivery, the latest ones. */
export const attemptsMax = 100

const fields = {
  id: [id('Id of the webhook.'), exampleIds.webhook],
  url: [url('URL that events are sent to.'), 'https://hooks.example.com/shots'],
  events: [
    typed<readonly WebhookEvent[]>({
      type: 'array',
      items: enumSchema(webhookEvents, 'Name of an event.'),
      description: 'Events that are sent to the webhook.',
    }),
    ['screenshot.completed', 'screenshot.failed'],
  ],
  description: [text('Free-text description.'), 'Production'],
  active: [typed<boolean>({ type: 'boolean', description: 'Whether events are sent to the webhook.' }), true],
  created_at: [timestamp('Time of creation.'), exampleTimes.created],
  last_delivery_at: [orNull(timestamp('End time of the latest attempt; null before the first.')), null],
} as const

const secret = typed<string>({
  type: 'string',
  pattern: '^whsec_[A-Za-z0-9+/]+=*$',
  description: 'Secret that signs deliveries. Returned only in this response.',
})

const webhook = object(fields)

const attempt = object({
  number: [count('Number of the attempt, starting at 1.', 1), 1],
  at: [timestamp('Start time of the attempt.'), exampleTimes.sent],
  status: [orNull(count('HTTP status of the response; null if there was none.')), 200],
  ms: [count('Duration of the attempt in milliseconds.'), 84],
  error: [
    typed<Failure | null>({
      type: ['string', 'null'],
      enum: [...failures, null],
      description: 'Reason for the failure; null if the attempt succeeded.',
    }),
    null,
  ],
})

const delivery = object({
  id: [id('Id of the delivery, sent as `webhook-id`; the same for all attempts.'), exampleIds.delivery],
  event: [enumSchema(webhookEvents, 'Name of the event.'), 'screenshot.completed'],
  screenshot_id: [
    orNull(id('Id of the screenshot that the event is about; null if there is none.')),
    exampleIds.screenshot,
  ],
  webhook_id: [
    orNull(id('Id of the webhook; null for a delivery to the `webhook_url` of a request.')),
    exampleIds.webhook,
  ],
  url: [text('URL of the receiver, with secrets masked.'), 'https://hooks.example.com/shots'],
  status: [enumSchema(['pending', 'delivered', 'failed'], '`failed`: no further attempt is scheduled.'), 'delivered'],
  created_at: [timestamp('Time at which the delivery was queued.'), exampleTimes.completed],
  sent_at: [orNull(timestamp('Start time of the first attempt.')), exampleTimes.sent],
  next_attempt_at: [orNull(timestamp('Time at which the next attempt is due; null if none is scheduled.')), null],
  attempts: list(partOf('DeliveryAttempt', attempt), attemptsMax, `The latest ${attemptsMax} attempts, oldest first.`),
})

const deliveryPage = object({
  data: list(partOf('Delivery', delivery), perPageMax, 'Deliveries, newest first.'),
  meta: object({
    per_page: [count('Number of deliveries per page.', 1), 20],
    next_cursor: [orNull(text('`cursor` of the next page; null on the last page.')), null],
  }),
})

/** A webhook in responses. */
export type Webhook = TypeOf<typeof webhook>

/** A delivery in responses. */
export type Delivery = TypeOf<typeof delivery>

/** Components of the webhook and delivery operations. */
export const webhookComponents = components({
  Webhook: webhook,
  WebhookAnswer: inEnvelope(partOf('Webhook', webhook)),
  WebhookList: inEnvelope(list(partOf('Webhook', webhook), webhooksMax, 'Webhooks, oldest first.')),
  WebhookWithSecretAnswer: inEnvelope(
    object({ ...fields, secret: [secret, 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='] }),
  ),
  DeliveryAttempt: attempt,
  Delivery: delivery,
  DeliveryPage: deliveryPage,
  QueuedDeliveryAnswer: inEnvelope(object({ id: [id('Id of the queued delivery.'), exampleIds.delivery] })),
})

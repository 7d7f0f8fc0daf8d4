import { type Failure, failures } from '#shared/errors/delivery-failures.ts'
import { perPageMax } from '#gateway/http/input.ts'
import { address, count, id, moment, orNull, text, word } from '#gateway/openapi/fields.ts'
import { components, inEnvelope, list, object, partOf, typed, type TypeOf } from '#gateway/openapi/json-schema.ts'
import { exampleIds, exampleTimes } from './example-values.ts'

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
  url: [address('Where events are sent.'), 'https://hooks.example.com/shots'],
  events: [
    typed<readonly WebhookEvent[]>({
      type: 'array',
      items: word(webhookEvents, 'An event.'),
      description: 'What is sent.',
    }),
    ['screenshot.completed', 'screenshot.failed'],
  ],
  description: [text('A note of the account.'), 'Production'],
  active: [typed<boolean>({ type: 'boolean', description: 'Whether anything is sent.' }), true],
  created_at: [moment('When it was made.'), exampleTimes.created],
  last_delivery_at: [orNull(moment('When the latest attempt ended; null before the first.')), null],
} as const

const secret = typed<string>({
  type: 'string',
  pattern: '^whsec_[A-Za-z0-9+/]+=*$',
  description: 'Signs what is sent. Shown in this answer only.',
})

const webhook = object(fields)

const attempt = object({
  number: [count('From 1.', 1), 1],
  at: [moment('When it began.'), exampleTimes.sent],
  status: [orNull(count('HTTP status of the answer; null where there was none.')), 200],
  ms: [count('Milliseconds that it took.'), 84],
  error: [
    typed<Failure | null>({
      type: ['string', 'null'],
      enum: [...failures, null],
      description: 'Why it failed; null where the receiver took it.',
    }),
    null,
  ],
})

const delivery = object({
  id: [id('Id of the delivery, sent as `webhook-id`; the same over all attempts.'), exampleIds.delivery],
  event: [word(webhookEvents, 'What it tells.'), 'screenshot.completed'],
  screenshot_id: [orNull(id('The screenshot that it is about, if there is one.')), exampleIds.screenshot],
  webhook_id: [orNull(id("Null for the address in a request's `webhook_url`.")), exampleIds.webhook],
  url: [text('Where it is sent, secrets masked.'), 'https://hooks.example.com/shots'],
  status: [word(['pending', 'delivered', 'failed'], '`failed`: all attempts are used up.'), 'delivered'],
  created_at: [moment('When it was queued.'), exampleTimes.completed],
  sent_at: [orNull(moment('When the first attempt began.')), exampleTimes.sent],
  next_attempt_at: [orNull(moment('When the next attempt is due; null where none is.')), null],
  attempts: list(partOf('DeliveryAttempt', attempt), attemptsMax, `The latest ${attemptsMax}, in order.`),
})

const deliveryPage = object({
  data: list(partOf('Delivery', delivery), perPageMax, 'The newest first.'),
  meta: object({
    per_page: [count('Deliveries of a page.', 1), 20],
    next_cursor: [orNull(text('`cursor` of the next page; null at the end.')), null],
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
  WebhookList: inEnvelope(list(partOf('Webhook', webhook), webhooksMax, 'The oldest first.')),
  WebhookWithSecretAnswer: inEnvelope(
    object({ ...fields, secret: [secret, 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='] }),
  ),
  DeliveryAttempt: attempt,
  Delivery: delivery,
  DeliveryPage: deliveryPage,
  QueuedDeliveryAnswer: inEnvelope(object({ id: [id('Id of the delivery that was queued.'), exampleIds.delivery] })),
})

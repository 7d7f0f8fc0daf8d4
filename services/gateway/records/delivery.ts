import type { Static } from 'typebox'
import { type Failure, failures } from '#shared/errors/delivery-failures.ts'
import {
  component,
  count,
  enumSchema,
  id,
  list,
  named,
  object,
  orNull,
  text,
  timestamp,
  typed,
} from '#shared/schema/fields.ts'
import { inEnvelope, perPageMax } from './envelope.ts'
import { exampleIds, exampleTimes } from './example-values.ts'
import { webhookEvents } from './webhook.ts'

/** What a delivery is about: events of webhooks, and uploads. */
const deliveryEvents = [...webhookEvents, 'screenshot.upload', 'upload.test'] as const

/** Maximum attempts listed per delivery, the latest ones. */
export const attemptsMax = 100

/** An attempt of a delivery in responses. */
export const deliveryAttempt = component('DeliveryAttempt', {
  number: count('Number of the attempt, starting at 1.', { minimum: 1, example: 1 }),
  at: timestamp('Start time of the attempt.', exampleTimes.sent),
  status: orNull(count('HTTP status of the response; null if there was none.', { example: 200 })),
  ms: count('Duration of the attempt in milliseconds.', { example: 84 }),
  error: typed<Failure | null>({
    type: ['string', 'null'],
    enum: [...failures, null],
    description: 'Reason for the failure; null if the attempt succeeded.',
    example: null,
  }),
})

/** A delivery in responses. */
export const delivery = component('Delivery', {
  id: id('Id of the delivery, sent as `webhook-id`; the same for all attempts.', exampleIds.delivery),
  event: enumSchema(deliveryEvents, 'Name of the event; `screenshot.upload` for the upload of the image.', {
    example: 'screenshot.completed',
  }),
  screenshot_id: orNull(
    id('Id of the screenshot that the event is about; null if there is none.', exampleIds.screenshot),
  ),
  webhook_id: orNull(
    id(
      'Id of the webhook; null for a delivery to the `webhook_url` of a request, and for an upload.',
      exampleIds.webhook,
    ),
  ),
  url: text('URL of the receiver, with secrets masked; of an upload that of the bucket.', {
    example: 'https://hooks.example.com/shots',
  }),
  status: enumSchema(['pending', 'delivered', 'failed'], '`failed`: no further attempt is scheduled.', {
    example: 'delivered',
  }),
  created_at: timestamp('Time at which the delivery was queued.', exampleTimes.completed),
  sent_at: orNull(timestamp('Start time of the first attempt.', exampleTimes.sent)),
  next_attempt_at: orNull(timestamp('Time at which the next attempt is due; null if none is scheduled.')),
  attempts: list(deliveryAttempt, attemptsMax, `The latest ${attemptsMax} attempts, oldest first.`),
})

/** See `delivery`. */
export type Delivery = Static<typeof delivery>

/** Body of a page of deliveries. */
export const deliveryPage = component('DeliveryPage', {
  data: list(delivery, perPageMax, 'Deliveries, newest first.'),
  meta: object({
    per_page: count('Number of deliveries per page.', { minimum: 1, example: 20 }),
    next_cursor: orNull(text('`cursor` of the next page; null on the last page.')),
  }),
})

/** Body of a response with the id of a queued delivery. */
export const queuedDeliveryAnswer = named(
  'QueuedDeliveryAnswer',
  inEnvelope(object({ id: id('Id of the queued delivery.', exampleIds.delivery) })),
)

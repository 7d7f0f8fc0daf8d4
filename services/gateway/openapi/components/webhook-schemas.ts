import { failures } from '#shared/errors/delivery-failures.ts'
import { webhookEvents, webhooksMax } from '#gateway/db/webhooks.ts'
import {
  address,
  closed,
  count,
  type Fields,
  id,
  inEnvelope,
  moment,
  orNull,
  schemaRef,
  text,
  word,
} from '#gateway/openapi/json-schema.ts'

const webhook: Fields = {
  id: id('Id of the webhook.'),
  url: address('Where events are sent.'),
  events: { type: 'array', items: word(webhookEvents, 'An event.'), description: 'What is sent.' },
  description: text('A note of the account.'),
  active: { type: 'boolean', description: 'Whether anything is sent.' },
  created_at: moment('When it was made.'),
  last_delivery_at: orNull(moment('When the latest attempt ended; null before the first.')),
}

const secret: Fields = {
  secret: {
    type: 'string',
    pattern: '^whsec_[A-Za-z0-9+/]+=*$',
    description: 'Signs what is sent. Shown in this answer only.',
  },
}

/** Webhooks of an account, and what was sent to them. */
export const webhookSchemas: Fields = {
  Webhook: closed(webhook),
  WebhookAnswer: inEnvelope(schemaRef('Webhook')),
  WebhookList: inEnvelope({
    type: 'array',
    maxItems: webhooksMax,
    items: schemaRef('Webhook'),
    description: 'The oldest first.',
  }),
  WebhookWithSecretAnswer: inEnvelope(closed({ ...webhook, ...secret })),
  DeliveryAttempt: closed({
    number: count('From 1.', 1),
    at: moment('When it began.'),
    status: orNull(count('HTTP status of the answer; null where there was none.')),
    ms: count('Milliseconds that it took.'),
    error: {
      type: ['string', 'null'],
      enum: [...failures, null],
      description: 'Why it failed; null where the receiver took it.',
    },
  }),
  Delivery: closed({
    id: id('Id of the delivery, sent as `webhook-id`; the same over all attempts.'),
    event: word(webhookEvents, 'What it tells.'),
    screenshot_id: orNull(id('The screenshot that it is about, if there is one.')),
    webhook_id: orNull(id("Null for the address in a request's `webhook_url`.")),
    url: text('Where it is sent, secrets masked.'),
    status: word(['pending', 'delivered', 'failed'], '`failed`: all attempts are used up.'),
    created_at: moment('When it was queued.'),
    sent_at: orNull(moment('When the first attempt began.')),
    next_attempt_at: orNull(moment('When the next attempt is due; null where none is.')),
    attempts: {
      type: 'array',
      maxItems: 100,
      items: schemaRef('DeliveryAttempt'),
      description: 'The latest 100, in order.',
    },
  }),
  DeliveryPage: closed({
    data: { type: 'array', maxItems: 100, items: schemaRef('Delivery'), description: 'The newest first.' },
    meta: closed({
      per_page: count('Deliveries of a page.', 1),
      next_cursor: orNull(text('`cursor` of the next page; null at the end.')),
    }),
  }),
  QueuedDeliveryAnswer: inEnvelope(closed({ id: id('Id of the delivery that was queued.') })),
}

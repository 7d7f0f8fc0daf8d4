import type { Static } from 'typebox'
import {
  component,
  enumSchema,
  flag,
  id,
  list,
  named,
  object,
  orNull,
  text,
  timestamp,
  typed,
  url,
} from '#shared/schema/fields.ts'
import { inEnvelope } from './envelope.ts'
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

const fields = {
  id: id('Id of the webhook.', exampleIds.webhook),
  url: url(
    'URL that events are sent to, with its password and its query masked as `***`.',
    'https://hooks.example.com/shots',
  ),
  events: typed<readonly WebhookEvent[]>({
    type: 'array',
    items: enumSchema(webhookEvents, 'Name of an event.'),
    description: 'Events that are sent to the webhook.',
    example: ['screenshot.completed', 'screenshot.failed'],
  }),
  description: text('Free-text description.', { example: 'Production' }),
  active: flag('Whether events are sent to the webhook.', { example: true }),
  created_at: timestamp('Time of creation.', exampleTimes.created),
  last_delivery_at: orNull(timestamp('End time of the latest attempt; null before the first.')),
}

const secret = typed<string>({
  type: 'string',
  pattern: '^whsec_[A-Za-z0-9+/]+=*$',
  description: 'Secret that signs deliveries. Returned only in this response.',
  example: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
})

/** A webhook in responses. */
export const webhook = component('Webhook', fields)

/** See `webhook`. */
export type Webhook = Static<typeof webhook>

/** Body of a response with a webhook. */
export const webhookAnswer = named('WebhookAnswer', inEnvelope(webhook))

/** Body of a response with all webhooks. */
export const webhookList = named('WebhookList', inEnvelope(list(webhook, webhooksMax, 'Webhooks, oldest first.')))

/** Body of a response with a webhook and its new secret. */
export const webhookWithSecretAnswer = named('WebhookWithSecretAnswer', inEnvelope(object({ ...fields, secret })))

import { exampleOf, type JsonSchema } from '#shared/schema/fields.ts'
import { eventBody } from '#gateway/records/event.ts'
import { type WebhookEvent, webhookEvents } from '#gateway/records/webhook.ts'
import { headerParameter, type Parameter } from './schema/contract.ts'
import { nestedSchema } from './schema/document-schema.ts'

type EventDoc = { readonly summary: string; readonly description: string }

const ended =
  'Sent unsigned to the `webhook_url` of the request, and to each active webhook that is subscribed to the event, as new webhooks are by default.'

const events: Readonly<Record<WebhookEvent, EventDoc>> = {
  'screenshot.completed': {
    summary: 'Screenshot completed',
    description: ended,
  },
  'screenshot.failed': {
    summary: 'Screenshot failed',
    description: ended,
  },
  'batch.completed': {
    summary: 'Batch completed',
    description:
      'Sent to each active webhook that is subscribed to the event, once the last screenshot of the batch has ended.',
  },
  'quota.warning': {
    summary: 'Quota warning',
    description:
      'Sent to each active webhook that is subscribed to the event, once per period for each of 80, 95 and 100 % of the quota.',
  },
  'webhook.test': {
    summary: 'Webhook test',
    description: 'Sent to one webhook when its test is requested, regardless of its subscribed events.',
  },
}

/** Without `always` the signature is optional: deliveries to a request's `webhook_url` are not signed. */
const signatureHeaders = (always: boolean): readonly Parameter[] =>
  [
    headerParameter(
      'X-Webhook-Signature',
      'HMAC-SHA256 of the raw body in hex, keyed with the whole secret including `whsec_`. After a rotation, the new secret is used.',
      { type: 'string', pattern: '^[0-9a-f]{64}$' },
    ),
    headerParameter('webhook-id', 'Id of the delivery, the same for all attempts.', {
      type: 'string',
      format: 'uuid',
    }),
    headerParameter('webhook-timestamp', 'Start time of this attempt, as Unix time in seconds.', {
      type: 'string',
      pattern: '^\\d{10,}$',
    }),
    headerParameter(
      'webhook-signature',
      'Standard Webhooks signature: `v1,` followed by the base64-encoded HMAC-SHA256 of id, timestamp and body, joined by dots, keyed with the base64-decoded part of the secret after `whsec_`. For 24 hours after a rotation, two signatures separated by a space.',
      { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$' },
    ),
  ].map((header) => ({ ...header, required: always }))

const eventDoc = (event: WebhookEvent): JsonSchema => ({
  post: {
    operationId: `deliver_${event.replace('.', '_')}`,
    tags: ['Events'],
    summary: events[event].summary,
    description: events[event].description,
    security: [],
    parameters: signatureHeaders(!event.startsWith('screenshot.')),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: nestedSchema(eventBody(event)), example: exampleOf(eventBody(event)) } },
    },
    responses: {
      '2XX': {
        description:
          'Delivered. The receiver must accept the connection within 10 seconds and respond within 30 seconds; the response body is ignored.',
      },
      default: {
        description: 'Any other response, including a redirect, is retried later until all attempts are used up.',
      },
    },
  },
})

/** OpenAPI descriptions of webhook requests, by event. */
export const eventDocs = (): JsonSchema => Object.fromEntries(webhookEvents.map((event) => [event, eventDoc(event)]))

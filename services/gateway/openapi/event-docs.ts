import { type WebhookEvent, webhookEvents } from '#gateway/db/webhooks.ts'
import { eventExamples } from './examples.ts'
import { type JsonSchema, schemaRef } from './json-schema.ts'
import { headerParameter, type Parameter } from './contract.ts'
import { eventSchemaNames } from './components/event-schemas.ts'

const about: Readonly<Record<WebhookEvent, { readonly summary: string; readonly description: string }>> = {
  'screenshot.completed': {
    summary: 'A screenshot is completed',
    description:
      'Sent to the `webhook_url` of its request, unsigned, and to each active webhook that asks for it, which new ones do.',
  },
  'screenshot.failed': {
    summary: 'A screenshot has failed',
    description:
      'Sent to the `webhook_url` of its request, unsigned, and to each active webhook that asks for it, which new ones do.',
  },
  'batch.completed': {
    summary: 'A batch has ended',
    description: 'Sent to each active webhook that asks for it, once the last screenshot of the batch has ended.',
  },
  'quota.warning': {
    summary: 'The quota is running out',
    description:
      'Sent to each active webhook that asks for it, once in a period for each of 80, 95 and 100 % of the quota.',
  },
  'webhook.test': {
    summary: 'A test of a webhook',
    description: 'Sent to one webhook when its test is asked for, whatever events it asks for.',
  },
}

/** Without `always` a delivery to the address that a request named is meant too: it is not signed. */
const signatureHeaders = (always: boolean): readonly Parameter[] =>
  [
    headerParameter(
      'X-Webhook-Signature',
      'HMAC-SHA256 of the raw body under the whole secret, `whsec_` included, in hex. After a rotation under the new one.',
      { type: 'string', pattern: '^[0-9a-f]{64}$' },
    ),
    headerParameter('webhook-id', 'Id of the delivery, the same over all attempts.', {
      type: 'string',
      format: 'uuid',
    }),
    headerParameter('webhook-timestamp', 'When this attempt began, as Unix time in seconds.', {
      type: 'string',
      pattern: '^\\d{10,}$',
    }),
    headerParameter(
      'webhook-signature',
      'Standard Webhooks: `v1,` and the HMAC-SHA256 of id, timestamp and body, joined by dots, under the base64-decoded part of the secret, in base64. For 24 hours after a rotation two, divided by a space.',
      { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$' },
    ),
  ].map((header) => ({ ...header, required: always }))

const eventDoc = (event: WebhookEvent): JsonSchema => ({
  post: {
    tags: ['Webhooks'],
    ...about[event],
    security: [],
    parameters: signatureHeaders(!event.startsWith('screenshot.')),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaRef(eventSchemaNames[event]), example: eventExamples[event] } },
    },
    responses: {
      '2XX': { description: 'Delivered. The answer has 30 seconds, the connection 10; its body is not looked at.' },
      default: { description: 'Tried again later, redirects included, until all attempts are used up.' },
    },
  },
})

/** What receivers are sent, by event. */
export const eventDocs = (): JsonSchema => Object.fromEntries(webhookEvents.map((event) => [event, eventDoc(event)]))

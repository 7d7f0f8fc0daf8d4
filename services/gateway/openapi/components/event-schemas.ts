import { webhookFields } from '#shared/db/record.ts'
import { type WebhookEvent, webhookEvents } from '#gateway/db/webhooks.ts'
import { closed, count, type Fields, id, type JsonSchema, moment, schemaRef } from '#gateway/openapi/json-schema.ts'
import { eventExamples } from '#gateway/openapi/examples.ts'
import { headerParameter, type Parameter } from '#gateway/openapi/contract.ts'
import { recordSchemas } from './record-schemas.ts'

const fieldsOf = (schema: string, names: readonly string[]): Fields => {
  const all = recordSchemas[schema]?.['properties'] as Fields
  return Object.fromEntries(names.map((name) => [name, all[name] ?? {}]))
}

const tells = (event: WebhookEvent, data: JsonSchema): JsonSchema =>
  closed({
    event: { type: 'string', const: event, description: 'What happened.' },
    data,
    sent_at: moment('When the first attempt began, the same over all attempts.'),
  })

const completed = closed(fieldsOf('CompletedScreenshot', webhookFields.completed), {
  ...fieldsOf('CompletedScreenshot', ['metadata']),
  cached: { type: 'boolean', const: true, description: "There where it shows an earlier capture's result." },
})

const failed = closed(fieldsOf('FailedScreenshot', webhookFields.failed))

const batch = closed({
  id: id('Id of the batch.'),
  status: { type: 'string', const: 'completed', description: 'All of it has ended; some may have failed.' },
  total: count('Screenshots of the batch.', 1),
  completed: count('Those that completed.'),
  failed: count('Those that failed.'),
  created_at: moment('When it was accepted.'),
})

const quota = closed({
  id: id('Names this warning.'),
  percentage: { type: 'integer', enum: [80, 95, 100], description: 'What of the quota is used up, in percent.' },
  screenshots_used: count('Screenshots of this period.', 1),
  screenshots_limit: count('The quota.', 1),
  period_start: moment('Beginning of the period.'),
})

const test = closed({ id: id('Id of the delivery.'), webhook_id: id('The webhook that is tested.') })

type EventDoc = {
  /** The component that holds its body. */
  readonly name: string
  readonly data: JsonSchema
  readonly summary: string
  readonly description: string
}

const ended =
  'Sent to the `webhook_url` of its request, unsigned, and to each active webhook that asks for it, which new ones do.'

const events: Readonly<Record<WebhookEvent, EventDoc>> = {
  'screenshot.completed': {
    name: 'ScreenshotCompletedEvent',
    data: completed,
    summary: 'A screenshot is completed',
    description: ended,
  },
  'screenshot.failed': {
    name: 'ScreenshotFailedEvent',
    data: failed,
    summary: 'A screenshot has failed',
    description: ended,
  },
  'batch.completed': {
    name: 'BatchCompletedEvent',
    data: batch,
    summary: 'A batch has ended',
    description: 'Sent to each active webhook that asks for it, once the last screenshot of the batch has ended.',
  },
  'quota.warning': {
    name: 'QuotaWarningEvent',
    data: quota,
    summary: 'The quota is running out',
    description:
      'Sent to each active webhook that asks for it, once in a period for each of 80, 95 and 100 % of the quota.',
  },
  'webhook.test': {
    name: 'WebhookTestEvent',
    data: test,
    summary: 'A test of a webhook',
    description: 'Sent to one webhook when its test is asked for, whatever events it asks for.',
  },
}

/** Bodies that are sent to receivers. */
export const eventSchemas: Fields = Object.fromEntries(
  webhookEvents.map((event) => [events[event].name, tells(event, events[event].data)]),
)

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
    summary: events[event].summary,
    description: events[event].description,
    security: [],
    parameters: signatureHeaders(!event.startsWith('screenshot.')),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaRef(events[event].name), example: eventExamples[event] } },
    },
    responses: {
      '2XX': { description: 'Delivered. The answer has 30 seconds, the connection 10; its body is not looked at.' },
      default: { description: 'Tried again later, redirects included, until all attempts are used up.' },
    },
  },
})

/** What receivers are sent, by event. */
export const eventDocs = (): JsonSchema => Object.fromEntries(webhookEvents.map((event) => [event, eventDoc(event)]))

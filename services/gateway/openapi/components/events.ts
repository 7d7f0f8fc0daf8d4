import { webhookFields } from '#shared/db/record.ts'
import { inWords } from '#gateway/openapi/errors.ts'
import { count, id, moment } from '#gateway/openapi/fields.ts'
import {
  closed,
  type Exampled,
  type Fields,
  type JsonSchema,
  object,
  schemaRef,
  typed,
} from '#gateway/openapi/json-schema.ts'
import { headerParameter, type Parameter } from '#gateway/openapi/contract.ts'
import { exampleIds, exampleTimes } from './example-values.ts'
import { acceptedExample, completedExample, recordSchemas } from './records.ts'
import { type WebhookEvent, webhookEvents } from './webhooks.ts'

const fieldsOf = (schema: string, names: readonly string[]): Fields => {
  const all = recordSchemas[schema]?.['properties'] as Fields
  return Object.fromEntries(names.map((name) => [name, all[name] ?? typed({})]))
}

const completedFields = fieldsOf('CompletedScreenshot', webhookFields.completed)
const completedMore = {
  ...fieldsOf('CompletedScreenshot', ['metadata']),
  cached: typed({ type: 'boolean', const: true, description: "There where it shows an earlier capture's result." }),
}

const completed: Exampled<unknown> = [
  closed(completedFields, completedMore),
  Object.fromEntries(
    Object.entries(completedExample).filter(([name]) => name in completedFields || name === 'metadata'),
  ),
]

const { id: failedId, url, created_at } = acceptedExample

const failed: Exampled<unknown> = [
  closed(fieldsOf('FailedScreenshot', webhookFields.failed)),
  {
    id: failedId,
    status: 'failed',
    url,
    error: { code: 'TIMEOUT', message: 'The page did not load in time.' },
    created_at,
  },
]

const batch = object({
  id: [id('Id of the batch.'), exampleIds.batch],
  status: [
    typed({ type: 'string', const: 'completed', description: 'All of it has ended; some may have failed.' }),
    'completed',
  ],
  total: [count('Screenshots of the batch.', 1), 20],
  completed: [count('Those that completed.'), 19],
  failed: [count('Those that failed.'), 1],
  created_at: [moment('When it was accepted.'), created_at],
})

const quota = object({
  id: [id('Names this warning.'), exampleIds.delivery],
  percentage: [
    typed({ type: 'integer', enum: [80, 95, 100], description: 'What of the quota is used up, in percent.' }),
    80,
  ],
  screenshots_used: [count('Screenshots of this period.', 1), 12_000],
  screenshots_limit: [count('The quota.', 1), 15_000],
  period_start: [moment('Beginning of the period.'), '2026-03-01T00:00:00.000000Z'],
})

const test = object({
  id: [id('Id of the delivery.'), exampleIds.delivery],
  webhook_id: [id('The webhook that is tested.'), exampleIds.webhook],
})

type EventDoc = {
  readonly data: Exampled<unknown>
  readonly summary: string
  readonly description: string
}

const ended =
  'Sent to the `webhook_url` of its request, unsigned, and to each active webhook that asks for it, which new ones do.'

const events: Readonly<Record<WebhookEvent, EventDoc>> = {
  'screenshot.completed': {
    data: completed,
    summary: 'A screenshot is completed',
    description: ended,
  },
  'screenshot.failed': {
    data: failed,
    summary: 'A screenshot has failed',
    description: ended,
  },
  'batch.completed': {
    data: batch,
    summary: 'A batch has ended',
    description: 'Sent to each active webhook that asks for it, once the last screenshot of the batch has ended.',
  },
  'quota.warning': {
    data: quota,
    summary: 'The quota is running out',
    description:
      'Sent to each active webhook that asks for it, once in a period for each of 80, 95 and 100 % of the quota.',
  },
  'webhook.test': {
    data: test,
    summary: 'A test of a webhook',
    description: 'Sent to one webhook when its test is asked for, whatever events it asks for.',
  },
}

/** Component name of the event's body. */
const nameOf = (event: WebhookEvent) => `${inWords(event)}Event`

const bodyOf = (event: WebhookEvent): Exampled<unknown> =>
  object({
    event: [typed({ type: 'string', const: event, description: 'What happened.' }), event],
    data: events[event].data,
    sent_at: [moment('When the first attempt began, the same over all attempts.'), exampleTimes.sent],
  })

/** Schemas of webhook bodies. */
export const eventSchemas: Fields = Object.fromEntries(webhookEvents.map((event) => [nameOf(event), bodyOf(event)[0]]))

/** Without `always` the signature is optional: deliveries to a request's `webhook_url` are not signed. */
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
      content: { 'application/json': { schema: schemaRef(nameOf(event)), example: bodyOf(event)[1] } },
    },
    responses: {
      '2XX': { description: 'Delivered. The answer has 30 seconds, the connection 10; its body is not looked at.' },
      default: { description: 'Tried again later, redirects included, until all attempts are used up.' },
    },
  },
})

/** OpenAPI descriptions of webhook requests, by event. */
export const eventDocs = (): JsonSchema => Object.fromEntries(webhookEvents.map((event) => [event, eventDoc(event)]))

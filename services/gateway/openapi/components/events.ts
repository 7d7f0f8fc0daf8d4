import { webhookFields } from '#shared/db/record.ts'
import { toPascalCase } from '#gateway/openapi/schema/errors.ts'
import { count, id, timestamp } from '#gateway/openapi/schema/fields.ts'
import {
  closed,
  type Exampled,
  type Fields,
  type JsonSchema,
  object,
  schemaRef,
  typed,
} from '#gateway/openapi/schema/json-schema.ts'
import { headerParameter, type Parameter } from '#gateway/openapi/schema/contract.ts'
import { exampleIds, exampleTimes } from '#gateway/openapi/schema/example-values.ts'
import { acceptedExample, completedExample, recordSchemas } from './records.ts'
import { type WebhookEvent, webhookEvents } from './webhooks.ts'

const fieldsOf = (schema: string, names: readonly string[]): Fields => {
  const all = recordSchemas[schema]?.['properties'] as Fields
  return Object.fromEntries(names.map((name) => [name, all[name] ?? typed({})]))
}

const completedFields = fieldsOf('CompletedScreenshot', webhookFields.completed)
const completedMore = {
  ...fieldsOf('CompletedScreenshot', ['metadata']),
  cached: typed({
    type: 'boolean',
    const: true,
    description: 'Present if the result was reused from an earlier capture.',
  }),
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
    typed({ type: 'string', const: 'completed', description: 'All screenshots have ended; some may have failed.' }),
    'completed',
  ],
  total: [count('Number of screenshots in the batch.', 1), 20],
  completed: [count('Number of completed screenshots.'), 19],
  failed: [count('Number of failed screenshots.'), 1],
  created_at: [timestamp('Time of acceptance.'), created_at],
})

const quota = object({
  id: [id('Id of the warning.'), exampleIds.delivery],
  percentage: [
    typed({ type: 'integer', enum: [80, 95, 100], description: 'Percentage of the quota that has been used.' }),
    80,
  ],
  screenshots_used: [count('Number of screenshots used in this period.', 1), 12_000],
  screenshots_limit: [count('Monthly quota of screenshots.', 1), 15_000],
  period_start: [timestamp('Start of the period.'), '2026-03-01T00:00:00.000000Z'],
})

const test = object({
  id: [id('Id of the delivery.'), exampleIds.delivery],
  webhook_id: [id('Id of the tested webhook.'), exampleIds.webhook],
})

type EventDoc = {
  readonly data: Exampled<unknown>
  readonly summary: string
  readonly description: string
}

const ended =
  'Sent unsigned to the `webhook_url` of the request, and to each active webhook that is subscribed to the event, as new webhooks are by default.'

const events: Readonly<Record<WebhookEvent, EventDoc>> = {
  'screenshot.completed': {
    data: completed,
    summary: 'Screenshot completed',
    description: ended,
  },
  'screenshot.failed': {
    data: failed,
    summary: 'Screenshot failed',
    description: ended,
  },
  'batch.completed': {
    data: batch,
    summary: 'Batch completed',
    description:
      'Sent to each active webhook that is subscribed to the event, once the last screenshot of the batch has ended.',
  },
  'quota.warning': {
    data: quota,
    summary: 'Quota warning',
    description:
      'Sent to each active webhook that is subscribed to the event, once per period for each of 80, 95 and 100 % of the quota.',
  },
  'webhook.test': {
    data: test,
    summary: 'Webhook test',
    description: 'Sent to one webhook when its test is requested, regardless of its subscribed events.',
  },
}

/** Component name of the event's body. */
const nameOf = (event: WebhookEvent) => `${toPascalCase(event)}Event`

const bodyOf = (event: WebhookEvent): Exampled<unknown> =>
  object({
    event: [typed({ type: 'string', const: event, description: 'Name of the event.' }), event],
    data: events[event].data,
    sent_at: [timestamp('Start time of the first attempt; the same for all attempts.'), exampleTimes.sent],
  })

/** Schemas of webhook bodies. */
export const eventSchemas: Fields = Object.fromEntries(webhookEvents.map((event) => [nameOf(event), bodyOf(event)[0]]))

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

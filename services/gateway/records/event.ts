import { webhookFields } from '#shared/db/record.ts'
import {
  component,
  constant,
  count,
  type Fields,
  id,
  object,
  optional,
  type Schema,
  timestamp,
  typed,
} from '#shared/schema/fields.ts'
import { acceptedExample, completedExample } from './capture-examples.ts'
import { fieldsByStatus } from './capture.ts'
import { exampleIds, exampleTimes } from './example-values.ts'
import { type WebhookEvent, webhookEvents } from './webhook.ts'

const pick = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.map((name) => [name, fields[name] ?? typed({})]))

const completedFields = pick(fieldsByStatus.completed, webhookFields.completed)

const completed: Schema = typed({
  ...object({
    ...completedFields,
    ...optional({
      ...pick(fieldsByStatus.completed, ['metadata']),
      cached: typed({
        type: 'boolean',
        const: true,
        description: 'Present if the result was reused from an earlier capture.',
      }),
    }),
  }),
  example: Object.fromEntries(
    Object.entries(completedExample).filter(([name]) => name in completedFields || name === 'metadata'),
  ),
})

const failed: Schema = typed({
  ...object(pick(fieldsByStatus.failed, webhookFields.failed)),
  example: {
    id: acceptedExample.id,
    status: 'failed',
    url: acceptedExample.url,
    error: { code: 'TIMEOUT', message: 'The page did not load in time.' },
    created_at: acceptedExample.created_at,
  },
})

const batch = object({
  id: id('Id of the batch.', exampleIds.batch),
  status: constant('completed', 'All screenshots have ended; some may have failed.'),
  total: count('Number of screenshots in the batch.', { minimum: 1, example: 20 }),
  completed: count('Number of completed screenshots.', { example: 19 }),
  failed: count('Number of failed screenshots.', { example: 1 }),
  created_at: timestamp('Time of acceptance.', acceptedExample.created_at),
})

const quota = object({
  id: id('Id of the warning.', exampleIds.delivery),
  percentage: typed({
    type: 'integer',
    enum: [80, 95, 100],
    description: 'Percentage of the quota that has been used.',
    example: 80,
  }),
  screenshots_used: count('Number of screenshots used in this period.', { minimum: 1, example: 12_000 }),
  screenshots_limit: count('Monthly quota of screenshots.', { minimum: 1, example: 15_000 }),
  period_start: timestamp('Start of the period.', '2026-03-01T00:00:00.000000Z'),
})

const test = object({
  id: id('Id of the delivery.', exampleIds.delivery),
  webhook_id: id('Id of the tested webhook.', exampleIds.webhook),
})

const dataOf: Readonly<Record<WebhookEvent, Schema>> = {
  'screenshot.completed': completed,
  'screenshot.failed': failed,
  'batch.completed': batch,
  'quota.warning': quota,
  'webhook.test': test,
}

/** `webhook.test` as `WebhookTest`, and `NOT_FOUND` as `NotFound`. */
export const toPascalCase = (name: string): string =>
  name.toLowerCase().replaceAll(/(?:^|[._])(\w)/g, (_, first: string) => first.toUpperCase())

/** The body of an event's delivery. */
export const eventBody = (event: WebhookEvent): Schema =>
  component(`${toPascalCase(event)}Event`, {
    event: constant(event, 'Name of the event.'),
    data: dataOf[event],
    sent_at: timestamp('Start time of the first attempt; the same for all attempts.', exampleTimes.sent),
  })

/** The bodies of all events. */
export const eventBodies: readonly Schema[] = webhookEvents.map(eventBody)

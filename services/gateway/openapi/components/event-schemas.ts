import { toldFields } from '#shared/db/record.ts'
import type { WebhookEvent } from '#gateway/db/webhooks.ts'
import { closed, count, type Fields, id, type JsonSchema, moment } from '#gateway/openapi/json-schema.ts'
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

const completed = closed(fieldsOf('CompletedScreenshot', toldFields.completed), {
  ...fieldsOf('CompletedScreenshot', ['metadata']),
  cached: { type: 'boolean', const: true, description: "There where it shows an earlier capture's result." },
})

const failed = closed(fieldsOf('FailedScreenshot', toldFields.failed))

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

/** The name of the component that holds an event's body. */
export const eventSchemaNames = {
  'screenshot.completed': 'ScreenshotCompletedEvent',
  'screenshot.failed': 'ScreenshotFailedEvent',
  'batch.completed': 'BatchCompletedEvent',
  'quota.warning': 'QuotaWarningEvent',
  'webhook.test': 'WebhookTestEvent',
} as const satisfies Record<WebhookEvent, string>

/** Bodies that are sent to receivers. */
export const eventSchemas: Fields = {
  ScreenshotCompletedEvent: tells('screenshot.completed', completed),
  ScreenshotFailedEvent: tells('screenshot.failed', failed),
  BatchCompletedEvent: tells('batch.completed', batch),
  QuotaWarningEvent: tells('quota.warning', quota),
  WebhookTestEvent: tells('webhook.test', test),
} satisfies Record<(typeof eventSchemaNames)[WebhookEvent], JsonSchema>

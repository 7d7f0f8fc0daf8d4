import type { Static } from 'typebox'
import { enumSchema, flag, type JsonSchema, line, object, optional, typed } from '#shared/schema/fields.ts'
import { mask } from '#shared/capture/mask-url.ts'
import { checkTarget } from '#shared/policy/target.ts'
import type { CheckInput } from '#gateway/http/input.ts'
import { type WebhookEvent, webhookEvents, webhooksMax } from '#gateway/records/webhook.ts'

const url = line(1, 2048, {
  description: `Public https URL of the receiver. An account has at most ${webhooksMax} webhooks.`,
})
const events = (more: JsonSchema = {}) =>
  typed<readonly WebhookEvent[]>({
    type: 'array',
    minItems: 1,
    maxItems: webhookEvents.length,
    uniqueItems: true,
    expected: `a list of unique events, each one of ${webhookEvents.join(', ')}`,
    description: 'Events that are sent to the webhook.',
    items: enumSchema(webhookEvents),
    ...more,
  })
const description = (more: JsonSchema = {}) => line(0, 500, { description: 'Free-text description.', ...more })
const active = (more: JsonSchema = {}) => flag('Whether events are sent to the webhook.', more)

/** The body of a new webhook. */
export const newWebhook = object({
  url,
  events: events({ default: ['screenshot.completed', 'screenshot.failed'] }),
  description: description({ default: '' }),
  active: active({ default: true }),
})

/** The body of an update. */
export const webhookUpdate = object(
  optional({ url, events: events(), description: description(), active: active() }),
  'Fields to change. Omitted fields keep their values.',
)

/** Whether a URL is as responses show it, without its secrets. */
const isShownMasked = (text: string): boolean => {
  const parsed = URL.parse(text)
  return parsed !== null && (parsed.password === mask || parsed.search === `?${mask}`)
}

/** Reports a URL that is not a public https URL, and text that is not well-formed Unicode. */
export const checkWebhook: CheckInput<Static<typeof webhookUpdate>> = (fields, errors, rules) => {
  const target =
    fields.url === undefined || errors.hasErrorWithin('url')
      ? undefined
      : checkTarget(fields.url, { schemes: ['https:'], allow: rules.allowTargets, lists: rules.targetLists })
  if (target?.ok === false) errors.report('url', target.problem)
  if (fields.url !== undefined && isShownMasked(fields.url))
    errors.report('url', `contains ${mask}, which replaces its password or query in responses; send the whole URL`)
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string' && !value.isWellFormed()) errors.report(name, 'must be well-formed Unicode')
  }
}

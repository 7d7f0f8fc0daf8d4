import { type Static, Type } from 'typebox'
import { webhookEvents, webhooksMax } from '#gateway/openapi/components/webhooks.ts'
import { checkTarget } from '#shared/policy/target.ts'
import type { CheckInput } from '#gateway/http/input.ts'

const line = (minLength: number, maxLength: number, more: object) =>
  Type.String({
    minLength,
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    description: `a string of ${minLength} to ${maxLength} characters without control characters`,
    ...more,
  })

const url = line(1, 2048, {
  doc: { description: `Public https URL of the receiver. An account has at most ${webhooksMax} webhooks.` },
})
const events = (more: object) =>
  Type.Array(Type.Enum([...webhookEvents]), {
    minItems: 1,
    maxItems: webhookEvents.length,
    uniqueItems: true,
    description: `a list of unique events, each one of ${webhookEvents.join(', ')}`,
    doc: { description: 'Events that are sent to the webhook.' },
    ...more,
  })
const description = (more: object) => line(0, 500, { doc: { description: 'Free-text description.' }, ...more })
const active = (more: object) =>
  Type.Boolean({ doc: { description: 'Whether events are sent to the webhook.' }, ...more })

const closed = { additionalProperties: false }

/** The body of a new webhook. */
export const newWebhook = Type.Object(
  {
    url,
    events: events({ default: ['screenshot.completed', 'screenshot.failed'] }),
    description: description({ default: '' }),
    active: active({ default: true }),
  },
  closed,
)

/** The body of an update. */
export const webhookUpdate = Type.Partial(
  Type.Object({ url, events: events({}), description: description({}), active: active({}) }, closed),
  { ...closed, doc: { description: 'Fields to change. Omitted fields keep their values.' } },
)

/** Reports a URL that is not a public https URL, and text that is not well-formed Unicode. */
export const checkWebhook: CheckInput<Static<typeof webhookUpdate>> = (fields, errors, { allowTargets: allow }) => {
  const target =
    fields.url === undefined || errors.hasErrorWithin('url')
      ? undefined
      : checkTarget(fields.url, { schemes: ['https:'], allow })
  if (target?.ok === false) errors.report('url', target.problem)
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string' && !value.isWellFormed()) errors.report(name, 'must be well-formed Unicode')
  }
}

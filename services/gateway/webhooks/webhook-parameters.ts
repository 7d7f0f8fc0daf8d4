import { Type } from 'typebox'
import { createSchemaCheck } from '#shared/capture/check-schema.ts'
import { collectFaults, type Report } from '#shared/capture/faults.ts'
import { webhookEvents, type WebhookFields } from '#shared/db/webhooks.ts'
import type { AllowTarget } from '#shared/policy/allow-list.ts'
import { checkTarget } from '#shared/policy/target.ts'
import { validationError } from '#gateway/http/read-parameters.ts'

const noControlCharacters = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

const line = (minLength: number, maxLength: number) =>
  Type.String({
    minLength,
    maxLength,
    pattern: noControlCharacters,
    description: `a text of ${minLength} to ${maxLength} characters without control characters`,
  })

const event = Type.Enum([...webhookEvents])

const fields = {
  events: Type.Array(event, {
    minItems: 1,
    maxItems: webhookEvents.length,
    uniqueItems: true,
    description: `a list of different events out of ${webhookEvents.join(', ')}`,
  }),
  description: line(0, 500),
  active: Type.Boolean(),
}

/** What a request may say of a webhook. All of it may be left out of a change. */
export const webhookParameters = Type.Partial(Type.Object({ url: line(1, 2048), ...fields }), {
  additionalProperties: false,
})

const check = createSchemaCheck(webhookParameters)

/** What a new webhook has where its request does not say. */
export const webhookDefaults = {
  events: ['screenshot.completed', 'screenshot.failed'],
  description: '',
  active: true,
} as const

const checkReceiver = (url: string | undefined, allow: readonly AllowTarget[], report: Report) => {
  const target = url === undefined ? undefined : checkTarget(url, { schemes: ['https:'], allow })
  if (target?.ok === false) report('url', target.problem)
}

const checkWellFormed = (given: object, report: Report) => {
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === 'string' && !value.isWellFormed()) report(name, 'must be well-formed Unicode')
  }
}

/** Judges the body of a change; `url` as the URL parser writes it. Throws `VALIDATION_ERROR` with all faults at once. */
export const readWebhookChange = (
  body: unknown,
  allow: readonly AllowTarget[],
  required: readonly 'url'[] = [],
): Partial<WebhookFields> => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw validationError({ body: ['must be a JSON object'] })
  }
  const { report, has, all } = collectFaults()
  const given = body as Partial<WebhookFields>
  check(given, report)
  for (const name of required) if (given[name] === undefined) report(name, 'is required')
  if (!has('url')) checkReceiver(given.url, allow, report)
  checkWellFormed(given, report)
  const faults = all()
  if (faults) throw validationError(faults)
  return { ...given, ...(given.url !== undefined && { url: new URL(given.url).href }) }
}

/** Judges the body of a new webhook; what it leaves out has its default. Throws `VALIDATION_ERROR` with all faults at once. */
export const readNewWebhook = (body: unknown, allow: readonly AllowTarget[]): WebhookFields => {
  const { url = '', ...given } = readWebhookChange(body, allow, ['url'])
  return { ...webhookDefaults, ...given, url }
}

import { linkMinutes } from '#gateway/operations/sign-url.ts'
import { webhookDefaults, webhookParameters } from '#gateway/webhooks/webhook-parameters.ts'
import type { Fields, JsonSchema } from '#gateway/openapi/json-schema.ts'
import { parameterNames, parameterSchema } from '#gateway/openapi/parameter-schemas.ts'

const sourceNames = ['url', 'html', 'markdown'] as const

const fieldsWithout = (left: readonly string[]): Fields =>
  Object.fromEntries(parameterNames.filter((name) => !left.includes(name)).map((name) => [name, parameterSchema(name)]))

const notes: Readonly<Record<string, string>> = {
  url: 'Public https address of the receiver, at most 20 webhooks for an account.',
  events: 'What is sent.',
  description: 'A note for people.',
  active: 'Whether anything is sent.',
}

const eventsSchema = (schema: JsonSchema): JsonSchema => {
  const { items, ...rest } = schema as { items: object }
  return { ...rest, items: { type: 'string', ...items } }
}

const webhookField = (name: string, schema: JsonSchema): JsonSchema => ({
  ...(name === 'events' ? eventsSchema(schema) : schema),
  description: notes[name],
})

const webhookFields: Fields = Object.fromEntries(
  Object.entries(webhookParameters.properties).map(([name, schema]) => [name, webhookField(name, { ...schema })]),
)

const withDefaults = Object.fromEntries(
  Object.entries(webhookFields).map(([name, schema]) => [
    name,
    name in webhookDefaults ? { ...schema, default: (webhookDefaults as Record<string, unknown>)[name] } : schema,
  ]),
)

/** Bodies of requests. */
export const requestSchemas: Fields = {
  CaptureParameters: {
    type: 'object',
    description: 'Parameters of a capture: exactly one source, and whatever else is wanted. Unknown names are refused.',
    properties: fieldsWithout([]),
    additionalProperties: false,
    oneOf: sourceNames.map((name) => ({ required: [name] })),
  },
  BatchParameters: {
    type: 'object',
    description: 'URLs, and capture parameters that hold for each of them.',
    properties: {
      urls: {
        type: 'array',
        minItems: 1,
        maxItems: 100,
        items: parameterSchema('url'),
        description: 'Pages to capture. One that is invalid refuses all.',
      },
      ...fieldsWithout([...sourceNames, 'response_type']),
      response_type: { type: 'string', enum: ['json'], description: 'A batch is answered with its record.' },
    },
    required: ['urls'],
    additionalProperties: false,
  },
  SignedUrlParameters: {
    type: 'object',
    properties: {
      expires_in: {
        type: 'integer',
        minimum: 0,
        maximum: linkMinutes.max,
        default: linkMinutes.usual,
        description: 'Minutes for which the link holds; 0 for ever, which is until the image is gone.',
      },
    },
    additionalProperties: false,
  },
  NewWebhook: { type: 'object', properties: withDefaults, required: ['url'], additionalProperties: false },
  WebhookChange: {
    type: 'object',
    description: 'What is to be another. What is left out stays.',
    properties: webhookFields,
    additionalProperties: false,
  },
}

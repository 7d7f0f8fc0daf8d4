import { captureParameters, type ParameterName } from '#shared/capture/options.ts'
import { urlsMax } from '#gateway/parameters/parse-batch.ts'
import type { Parameter } from './schema/contract.ts'
import type { JsonSchema } from './schema/json-schema.ts'

/** Converts a validation schema to OpenAPI: enums get their type, records `additionalProperties`; error texts are dropped. */
const translated = (schema: JsonSchema): JsonSchema => {
  const { patternProperties, description: _, ...rest } = schema
  const values = Object.values((patternProperties ?? {}) as Record<string, JsonSchema>)[0]
  const { items, properties } = rest as { items?: JsonSchema; properties?: Record<string, JsonSchema> }
  return {
    ...('enum' in rest && { type: 'string' }),
    ...rest,
    ...(items && { items: translated(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, translated(each)])),
    }),
    ...(values && { additionalProperties: translated(values) }),
  }
}

/** The OpenAPI schema of a capture parameter. */
const parameterSchema = (name: ParameterName): JsonSchema => {
  const { doc, ...schema } = captureParameters.properties[name]
  return { ...translated(schema), description: doc.description }
}

/** Names of all capture parameters, in the contract's order. */
const parameterNames = Object.keys(captureParameters.properties) as ParameterName[]

/** Documented query encodings of lists and objects; others are accepted too. OpenAPI has no style for lists of objects. */
const encodings: Partial<Record<ParameterName, 'form' | 'deepObject' | 'json'>> = {
  hide_selectors: 'form',
  headers: 'deepObject',
  geolocation: 'deepObject',
  cookies: 'json',
}

const encoded = (name: ParameterName, schema: JsonSchema): JsonSchema => {
  const { example } = captureParameters.properties[name].doc
  const encoding = encodings[name]
  if (encoding === 'json') return { content: { 'application/json': { schema, example } } }
  return { ...(encoding && { style: encoding, explode: true }), schema, example }
}

/** The capture parameters as query parameters. */
export const captureQuery = (): Parameter[] =>
  parameterNames.map((name) => {
    const { description, ...schema } = parameterSchema(name)
    return { name, in: 'query', description, ...encoded(name, schema) }
  })

const sourceNames = ['url', 'html', 'markdown'] as const

const fieldsWithout = (left: readonly string[]) =>
  Object.fromEntries(parameterNames.filter((name) => !left.includes(name)).map((name) => [name, parameterSchema(name)]))

/** The body of a capture. */
export const captureSchema: JsonSchema = {
  type: 'object',
  description: 'Parameters of a capture: exactly one source, and any other parameters. Unknown names are rejected.',
  properties: fieldsWithout([]),
  additionalProperties: false,
  oneOf: sourceNames.map((name) => ({ required: [name] })),
}

/** The body of a batch. */
export const batchSchema: JsonSchema = {
  type: 'object',
  description: 'URLs, and capture parameters that apply to each of them.',
  properties: {
    urls: {
      type: 'array',
      minItems: 1,
      maxItems: urlsMax,
      items: parameterSchema('url'),
      description: 'URLs of the pages to capture. If one is invalid, the whole batch is rejected.',
    },
    ...fieldsWithout([...sourceNames, 'response_type']),
    response_type: { type: 'string', enum: ['json'], description: 'A batch always returns its record.' },
  },
  required: ['urls'],
  additionalProperties: false,
}

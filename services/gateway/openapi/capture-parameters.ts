import type { TSchema } from 'typebox'
import { captureParameters, type ParameterName } from '#shared/capture/options.ts'
import { refusedInLinks } from '#gateway/links/read-link-capture.ts'
import { urlsMax } from '#gateway/parameters/parse-batch.ts'
import { enumSchema, type JsonSchema, keywordsOf, typed } from '#shared/schema/fields.ts'
import { type Parameter, unsentExample } from './schema/contract.ts'
import { documented } from './schema/document-schema.ts'

/** OpenAPI has records as `additionalProperties`. */
const asOpenapi = (schema: TSchema): TSchema => {
  const { patternProperties, description, ...rest } = keywordsOf(schema)
  if (patternProperties === undefined) return schema
  return typed({ ...rest, additionalProperties: Object.values(patternProperties as object)[0], description })
}

/** Names of all capture parameters, in the contract's order. */
const parameterNames = Object.keys(captureParameters.properties) as ParameterName[]

/** Documented query encodings of objects and lists; others are accepted too. OpenAPI has no style for lists of objects. */
const encoded = (name: ParameterName, schema: JsonSchema): JsonSchema => {
  const { example } = captureParameters.properties[name]
  // The source that the reference page sends unless another one is chosen.
  const shown = name === 'url' ? { example } : unsentExample({ ...schema, example })
  if (schema['type'] === 'object') return { style: 'deepObject', explode: true, schema, ...shown }
  const { type } = (schema['items'] ?? {}) as JsonSchema
  if (type === 'object') return { content: { 'application/json': { schema, ...shown } } }
  return { ...(type !== undefined && { style: 'form', explode: true }), schema, ...shown }
}

/** The capture parameters as query parameters. */
export const captureQuery = (): Parameter[] =>
  parameterNames.map((name) => {
    const { description, ...schema } = documented(asOpenapi(captureParameters.properties[name]))
    return { name, in: 'query', description, ...encoded(name, schema) }
  })

/** The capture parameters of a link: no name is repeated, so that lists and objects are JSON. */
export const linkQuery = (): Parameter[] =>
  captureQuery().flatMap(({ style, explode: _explode, ...parameter }) => {
    const { name, schema, examples, ...rest } = parameter
    if (name in refusedInLinks) return []
    return [style ? { name, ...rest, content: { 'application/json': { schema, examples } } } : parameter]
  })

const sourceNames = ['url', 'html', 'markdown'] as const

const having = (name: string) => ({ properties: { [name]: {} }, required: [name] })
const without = (...names: readonly string[]) => ({
  properties: Object.fromEntries(names.map((name) => [name, { not: {} }])),
})

const keywords = ['if', 'then', 'else'] as const
const conditional = (...schemas: readonly [object, object, object]): object =>
  Object.fromEntries(keywords.map((keyword, index) => [keyword, schemas[index]]))

/** Not `oneOf`: generators of clients make a type of each of its parts, and none of the parameters. */
const exactlyOneSource = conditional(
  having('url'),
  without('html', 'markdown'),
  conditional(having('html'), without('markdown'), having('markdown')),
)

const fieldsWithout = (left: readonly string[]) =>
  Object.fromEntries(
    Object.entries<TSchema>(captureParameters.properties).flatMap(([name, schema]) =>
      left.includes(name) ? [] : [[name, asOpenapi(schema)]],
    ),
  )

/** The body of a capture. */
export const captureSchema = typed({
  type: 'object',
  description: 'Parameters of a capture: exactly one source, and any other parameters. Unknown names are rejected.',
  properties: fieldsWithout([]),
  additionalProperties: false,
  ...exactlyOneSource,
})

/** The body of a batch. */
export const batchSchema = typed({
  type: 'object',
  description: 'URLs, and capture parameters that apply to each of them.',
  properties: {
    urls: {
      type: 'array',
      minItems: 1,
      maxItems: urlsMax,
      items: captureParameters.properties.url,
      description: 'URLs of the pages to capture. If one is invalid, the whole batch is rejected.',
    },
    ...fieldsWithout([...sourceNames, 'response_type']),
    response_type: enumSchema(['json'], 'A batch always returns its record.'),
  },
  required: ['urls'],
  additionalProperties: false,
})

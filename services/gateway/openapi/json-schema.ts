/** A schema as OpenAPI 3.1 holds it, in JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Named schemas of an object's fields. */
export type Fields = Readonly<Record<string, JsonSchema>>

/** An object with these fields and no others: all of `required`, and whichever it has of `optional`. */
export const closed = (required: Fields, optional: Fields = {}, description?: string): JsonSchema => ({
  type: 'object',
  ...(description !== undefined && { description }),
  properties: { ...required, ...optional },
  ...(Object.keys(required).length > 0 && { required: Object.keys(required) }),
  additionalProperties: false,
})

/** A schema that the document names under `components`. */
export const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** What every answer wraps its result into. */
export const inEnvelope = (content: JsonSchema): JsonSchema => closed({ data: content })

/** A text. */
export const text = (description: string): JsonSchema => ({ type: 'string', description })

/** One of a few words. */
export const word = (values: readonly string[], description: string): JsonSchema => ({
  type: 'string',
  enum: values,
  description,
})

/** A whole number from `minimum`, 0 where it is not given. */
export const count = (description: string, minimum = 0): JsonSchema => ({ type: 'integer', minimum, description })

/** A schema that allows null beside what it says. */
export const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema['type'], 'null'] })

/** The id of a record. */
export const id = (description: string): JsonSchema => ({ type: 'string', format: 'uuid', description })

/** A moment: ISO 8601 UTC with microseconds and a trailing `Z`. */
export const moment = (description: string): JsonSchema => ({
  type: 'string',
  format: 'date-time',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$',
  description,
})

/** An absolute address. */
export const address = (description: string): JsonSchema => ({ type: 'string', format: 'uri', description })

/** An exact decimal as text. */
export const decimal = (description: string): JsonSchema => ({
  type: 'string',
  pattern: '^\\d+(\\.\\d+)?$',
  description,
})

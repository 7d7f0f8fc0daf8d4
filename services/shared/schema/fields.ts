import { type Static, type TObject, type TOptional, type TSchema, type TUnsafe, Type } from 'typebox'

/** A schema of OpenAPI 3.1, which is JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * A schema with the TypeScript type that it describes. Its description is for documents. Besides the keywords of JSON Schema it
 * may have those of `ownKeywords`.
 */
export type Schema<T = unknown> = TUnsafe<T>

/** Named schemas of an object's fields. */
export type Fields = Readonly<Record<string, Schema>>

/** A schema of an object, whose fields can be read one by one. */
export type ObjectSchema<T = unknown> = Schema<T> & {
  readonly properties: Fields
  readonly required?: readonly string[]
}

/**
 * Keywords of this project, which validate nothing. `expected`: what is valid, for error messages; by default it follows from the
 * bounds. `example`; `documented`: keywords that only the document has; `component`: name in the document, which refers to it.
 * `more`, `appliesTo`, `plain`: see `ParameterDoc`.
 */
export const ownKeywords = ['expected', 'example', 'documented', 'component', 'more', 'appliesTo', 'plain']

type More<T> = JsonSchema & { readonly example?: T; readonly default?: T }

/** Assigns a TypeScript type to a schema. */
export const typed = <T>(schema: JsonSchema): Schema<T> => Type.Unsafe<T>(schema)

/** The keywords of a schema. */
export const keywordsOf = (schema: TSchema): JsonSchema => schema as JsonSchema

const described = <T>(bounds: JsonSchema, description: string | undefined, more: JsonSchema = {}): Schema<T> =>
  typed({ ...bounds, ...(description !== undefined && { description }), ...more })

/** Adds a default, also to the type of a schema, so that a value with a default is never undefined. */
export const byDefault = <S extends TSchema>(schema: S, value: Static<S>) => Object.assign(schema, { default: value })

/** A string. */
export const text = (description?: string, more?: More<string>): Schema<string> =>
  described({ type: 'string' }, description, more)

/** One line of text. */
export const line = (minLength: number, maxLength: number, more: More<string> = {}): Schema<string> =>
  typed({
    type: 'string',
    minLength,
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    expected: `a string of ${minLength} to ${maxLength} characters without control characters`,
    ...more,
  })

/** A string enum. */
export const enumSchema = <const Value extends string>(
  values: readonly Value[],
  description?: string,
  more?: More<NoInfer<Value>>,
): Schema<Value> => described({ type: 'string', enum: [...values] }, description, more)

/** A constant. */
export const constant = <const Value extends string>(value: Value, description: string): Schema<Value> =>
  typed({ type: 'string', const: value, description, example: value })

/** A boolean. */
export const flag = (description?: string, more?: More<boolean>): Schema<boolean> =>
  described({ type: 'boolean' }, description, more)

/** An integer within bounds, included. */
export const integer = (minimum: number, maximum: number, description?: string, more?: More<number>): Schema<number> =>
  described({ type: 'integer', minimum, maximum }, description, more)

/** An integer from 0, or from `minimum`. */
export const count = (
  description: string,
  { minimum = 0, ...more }: More<number> & { readonly minimum?: number } = {},
): Schema<number> => described({ type: 'integer', minimum }, description, more)

/** The id of a record. */
export const id = (description: string, example: string): Schema<string> =>
  typed({ type: 'string', format: 'uuid', description, example })

/** A time: ISO 8601 UTC with microseconds and a trailing `Z`. */
export const timestamp = (description: string, example?: string): Schema<string> =>
  typed({
    type: 'string',
    format: 'date-time',
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$',
    description,
    ...(example !== undefined && { example }),
  })

/** An absolute URI. */
export const url = (description: string, example?: string): Schema<string> =>
  typed({ type: 'string', format: 'uri', description, ...(example !== undefined && { example }) })

/** An exact decimal as a string. */
export const decimal = (description: string, example: string): Schema<string> =>
  typed({ type: 'string', pattern: '^\\d+(\\.\\d+)?$', description, example })

/** Makes a schema nullable; its example is null unless it has one. A named one stays as it is, beside null. */
export const orNull = <T>(schema: Schema<T>): Schema<T | null> => {
  const { type, example = null, component: name } = keywordsOf(schema)
  if (name !== undefined) return typed({ anyOf: [schema, { type: 'null' }], example })
  return typed({ ...schema, type: [type, 'null'], example })
}

/** Makes fields optional. */
export const optional = <F extends Fields>(fields: F) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [K in keyof F]: TOptional<F[K]>
  }

/** A schema of an object with these fields and no others. */
export const object = <P extends Fields>(properties: P, description?: string): ObjectSchema<Static<TObject<P>>> => {
  const required = Object.keys(properties).filter((name) => !Type.IsOptional(properties[name]))
  return typed<Static<TObject<P>>>({
    type: 'object',
    ...(description !== undefined && { description }),
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }) as ObjectSchema<Static<TObject<P>>>
}

/** A list of at most `maxItems`; its example has one item. */
export const list = <T>(items: Schema<T>, maxItems: number, description: string): Schema<readonly T[]> =>
  typed({ type: 'array', maxItems, items, description })

/** Names a schema, so that documents describe it once and refer to it wherever else it is used. */
export const named = <T>(component: string, schema: Schema<T>): Schema<T> => typed({ ...schema, component })

/** A named schema of an object. */
export const component = <P extends Fields>(name: string, fields: P, description?: string) =>
  named(name, object(fields, description))

/** The example of a schema: its own, else one of the examples of its fields or items. */
export const exampleOf = <T>(schema: Schema<T>): T => {
  const {
    example,
    items,
    properties = {},
    required = [],
  } = schema as {
    readonly example?: unknown
    readonly items?: Schema
    readonly properties?: Fields
    readonly required?: readonly string[]
  }
  if (example !== undefined) return example as T
  if (items !== undefined) return [exampleOf(items)] as T
  return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] as Schema)])) as T
}

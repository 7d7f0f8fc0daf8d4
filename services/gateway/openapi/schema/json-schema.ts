import { type Static, type TUnsafe, Type } from 'typebox'

/** A schema of OpenAPI 3.1, which is JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A schema with the TypeScript type that it describes. */
export type Schema<T = unknown> = JsonSchema & TUnsafe<T>

/** Named schemas of an object's fields. */
export type Fields = Readonly<Record<string, Schema>>

/** A schema with an example. */
export type Exampled<T> = readonly [schema: Schema<T>, example: NoInfer<T>]

/** A schema that the document names under `components`. */
export type Component<T = unknown> = { readonly name: string; readonly schema: Schema<T>; readonly example: T }

/** The TypeScript type that an exampled schema describes. */
export type TypeOf<E> = E extends Exampled<infer T> ? T : never

/** Assigns a TypeScript type to a schema. */
export const typed = <T>(schema: JsonSchema): Schema<T> => Type.Unsafe<T>(schema) as Schema<T>

type Closed<R extends Fields, O extends Fields> = { readonly [K in keyof R]: Static<R[K]> } & {
  readonly [K in keyof O]?: Static<O[K]>
}

/** A schema of an object with all `required` fields, any `optional` ones, and no others. */
export const closed = <R extends Fields, O extends Fields = {}>(
  required: R,
  optional?: O,
  description?: string,
): Schema<Closed<R, O>> =>
  typed({
    type: 'object',
    ...(description !== undefined && { description }),
    properties: { ...required, ...optional },
    ...(Object.keys(required).length > 0 && { required: Object.keys(required) }),
    additionalProperties: false,
  })

/** As `closed`, with examples: all `fields` are required. */
export const object = <T extends object, O extends Fields = {}>(
  fields: { readonly [K in keyof T]: Exampled<T[K]> },
  optional?: O,
): Exampled<T & Closed<{}, O>> => {
  const pick = (at: 0 | 1) =>
    Object.fromEntries(Object.entries<Exampled<unknown>>(fields).map(([name, field]) => [name, field[at]]))
  return [closed(pick(0) as Fields, optional) as Schema<T & Closed<{}, O>>, pick(1) as T & Closed<{}, O>]
}

/** A list of at most `maxItems`; its example has one item. */
export const list = <T>(
  [items, example]: Exampled<T>,
  maxItems: number,
  description: string,
): Exampled<readonly T[]> => [typed({ type: 'array', maxItems, items, description }), [example]]

/** The envelope of every JSON result. */
export const inEnvelope = <T>(content: Exampled<T>): Exampled<{ readonly data: T }> => object({ data: content })

/** Creates components, named by their property. */
export const components = <T extends object>(all: { readonly [K in keyof T]: Exampled<T[K]> }) =>
  Object.fromEntries(
    Object.entries<Exampled<unknown>>(all).map(([name, [schema, example]]) => [name, { name, schema, example }]),
  ) as { readonly [K in keyof T]: Component<T[K]> }

/** A reference to a component's schema. */
export const schemaRef = <T>(name: string): Schema<T> => typed({ $ref: `#/components/schemas/${name}` })

/** A reference to the component `name`, with its example, for use inside another schema. */
export const partOf = <T>(name: string, [, example]: Exampled<T>): Exampled<T> => [schemaRef(name), example]

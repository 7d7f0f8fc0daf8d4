import type { TSchema } from 'typebox'
import { type Fields, type JsonSchema, keywordsOf, ownKeywords, type Schema, typed } from '#shared/schema/fields.ts'

/** A reference to a component's schema. */
export const schemaRef = <T>(name: string): Schema<T> => typed({ $ref: `#/components/schemas/${name}` })

/** A schema inside of another: a reference if it is a component. */
export const nestedSchema = (schema: TSchema): JsonSchema => {
  const { component } = keywordsOf(schema)
  return typeof component === 'string' ? keywordsOf(schemaRef(component)) : documented(schema)
}

const needed = (names: readonly string[], properties: Fields = {}) =>
  names.filter((name) => !('default' in (properties[name] ?? {})))

const keyword = (schema: JsonSchema, name: string, value: unknown): readonly [string, unknown][] => {
  if (ownKeywords.includes(name)) return []
  if (name === 'items' || (name === 'additionalProperties' && typeof value === 'object'))
    return [[name, nestedSchema(value as TSchema)]]
  if (name === 'anyOf' || name === 'oneOf') return [[name, (value as readonly TSchema[]).map(nestedSchema)]]
  if (name === 'properties') {
    return [[name, Object.fromEntries(Object.entries(value as Fields).map(([key, each]) => [key, nestedSchema(each)]))]]
  }
  if (name !== 'required') return [[name, value]]
  const names = needed(value as readonly string[], schema['properties'] as Fields | undefined)
  return names.length > 0 ? [[name, names]] : []
}

/**
 * A schema as documents show it: without the keywords of this project, and with references to components. A field with a default
 * is optional, because its default is filled in before the validation.
 */
export const documented = (schema: TSchema): JsonSchema => {
  const keywords = keywordsOf(schema)
  return {
    ...Object.fromEntries(Object.entries(keywords).flatMap(([name, value]) => keyword(keywords, name, value))),
    ...(keywords['documented'] as JsonSchema | undefined),
  }
}

import { captureParameters, type ParameterName } from '#shared/capture/options.ts'
import type { JsonSchema } from './json-schema.ts'
import { parameterNotes } from './parameter-notes.ts'

/** A schema that validates, in the words of OpenAPI: what it may be stands beside its type, records of any name say so. */
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

/** The schema of a capture parameter, from the one that validates, with its note. */
export const parameterSchema = (name: ParameterName): JsonSchema => ({
  ...translated({ ...captureParameters.properties[name] }),
  description: parameterNotes[name].note,
})

/** Names of all capture parameters, in the contract's order. */
export const parameterNames = Object.keys(captureParameters.properties) as ParameterName[]

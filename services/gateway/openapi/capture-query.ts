import type { ParameterName } from '#shared/capture/options.ts'
import type { JsonSchema } from './json-schema.ts'
import type { Parameter } from './operation-doc.ts'
import { parameterNotes } from './parameter-notes.ts'
import { parameterNames, parameterSchema } from './parameter-schemas.ts'

/** How lists and objects stand in a query; each has other encodings too. Lists of objects have no style but JSON. */
const encodings: Partial<Record<ParameterName, 'form' | 'deepObject' | 'json'>> = {
  hide_selectors: 'form',
  headers: 'deepObject',
  geolocation: 'deepObject',
  cookies: 'json',
}

const encoded = (name: ParameterName, schema: JsonSchema): JsonSchema => {
  const { example } = parameterNotes[name]
  const encoding = encodings[name]
  if (encoding === 'json') return { content: { 'application/json': { schema, example } } }
  return { ...(encoding && { style: encoding, explode: true }), schema, example }
}

/** The capture parameters as parameters of a query. */
export const captureQuery = (): Parameter[] =>
  parameterNames.map((name) => {
    const { description, ...schema } = parameterSchema(name)
    return { name, in: 'query', description, ...encoded(name, schema) }
  })

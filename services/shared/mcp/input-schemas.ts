import type { TSchema } from 'typebox'
import { captureParameters, type ParameterName } from '#shared/capture/options.ts'
import { parameterGroups } from '#shared/capture/parameters.ts'
import { type JsonSchema, ownKeywords } from '#shared/schema/fields.ts'
import type { Tool } from './tool.ts'

/** Without the keywords that only this project's documents use: a model reads every byte of a schema. */
const plain = (schema: TSchema): JsonSchema =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (ownKeywords.includes(key) ? undefined : value)),
  ) as JsonSchema

const schemaOf = (names: readonly ParameterName[]): Tool['inputSchema'] => ({
  type: 'object',
  description: 'Exactly one of `url`, `html` and `markdown`, and any other parameters.',
  properties: Object.fromEntries(names.map((name) => [name, plain(captureParameters.properties[name])])),
  additionalProperties: false,
})

const namesIn = (...groups: readonly object[]) => groups.flatMap((group) => Object.keys(group) as ParameterName[])

/** The call itself returns the result, and files have a tool of their own. */
const unused: readonly ParameterName[] = [
  'webhook_url',
  'upload_to',
  'upload_key',
  'response_type',
  'outputs',
  'renditions',
]

/** Parameters of a picture. */
export const pictureSchema = schemaOf(namesIn(captureParameters.properties).filter((name) => !unused.includes(name)))

const { source, loading, injection, blocking, emulation } = parameterGroups

/** Parameters that matter for the content of a page. */
export const contentSchema = schemaOf([
  ...namesIn(source, loading, injection, blocking, emulation),
  ...(['actions', 'outputs', 'cache_ttl'] as const),
])

import type { TSchema } from 'typebox'
import { captureParameters, type ParameterName } from '#shared/capture/options.ts'
import { parameterGroups } from '#shared/capture/parameters.ts'
import { renditionSideMax } from '#shared/capture/parameters/kinds.ts'
import { integer, type JsonSchema, keywordsOf, ownKeywords } from '#shared/schema/fields.ts'
import type { Arguments, Tool } from './tool.ts'

/** Without the keywords that only this project's documents use: a model reads every byte of a schema. */
const plain = (schema: TSchema): JsonSchema =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (ownKeywords.includes(key) ? undefined : value)),
  ) as JsonSchema

/** Schemas of parameters by name. */
export const schemasOf = (names: readonly ParameterName[]): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(names.map((name) => [name, plain(captureParameters.properties[name])]))

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
export const pictureNames = namesIn(captureParameters.properties).filter((name) => !unused.includes(name))

const { source, loading, injection, blocking, emulation } = parameterGroups

/** Parameters that matter for the content of a page. */
export const contentNames: readonly ParameterName[] = [
  ...namesIn(source, loading, injection, blocking, emulation),
  ...(['actions', 'outputs', 'cache_ttl'] as const),
]

/**
 * Schema of a tool that captures: of most parameters a conversation needs nothing, and each schema takes part of its context, so that
 * those beyond `common` stand in `options`.
 */
const schemaWith = (common: readonly ParameterName[], more: Readonly<Record<string, JsonSchema>>) => ({
  type: 'object' as const,
  description: 'Exactly one of `url`, `html` and `markdown`.',
  properties: {
    ...schemasOf(common),
    ...more,
    options: {
      type: 'object',
      description: 'Further parameters by name, such as actions or cookies: describe_options returns them all.',
    },
  },
})

/** Longest side of a picture in a result, in pixels: the longest that models accept beside other pictures. */
const pictureSideDefault = 2000

/** Parameter of tools that return a picture. */
export const pictureSide = keywordsOf(
  integer(
    16,
    renditionSideMax,
    'Longest side of the returned picture in pixels; larger ones are scaled down to JPEG.',
    {
      default: pictureSideDefault,
    },
  ),
)

/** The longest side that a call requests; the default if it is not a number within the bounds. */
export const requestedSide = ({ picture_side: side }: Arguments): number =>
  typeof side === 'number' && side >= 16 && side <= renditionSideMax ? side : pictureSideDefault

/** Schema of `capture`. */
export const pictureSchema: Tool['inputSchema'] = schemaWith(
  [
    ...(['url', 'html', 'markdown', 'width', 'height', 'device', 'full_page', 'selector', 'format'] as const),
    ...(['wait_for_selector', 'delay', 'hide_selectors', 'block_ads', 'dark_mode'] as const),
  ],
  { picture_side: pictureSide },
)

/** Schema of `capture_content`. */
export const contentSchema: Tool['inputSchema'] = schemaWith(
  ['url', 'html', 'markdown', 'outputs', 'wait_for_selector', 'delay'],
  {},
)

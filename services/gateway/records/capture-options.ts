import { completedNames, type EchoedOptions } from '#shared/capture/echo-options.ts'
import { captureParameters } from '#shared/capture/options.ts'
import { count, enumSchema, type Fields, named, object, optional, type Schema, typed } from '#shared/schema/fields.ts'

const echoedKeywords = ['type', 'enum', 'items', 'properties', 'required', 'patternProperties', 'additionalProperties']

/** The schema of request parameters without its bounds, because masked secrets may be longer or shorter. */
const echoed = (schema: unknown): unknown => {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => echoedKeywords.includes(name) && !(name === 'type' && 'enum' in schema))
      .map(([name, value]: [string, unknown]) => {
        if (name === 'items') return [name, echoed(value)]
        if (name !== 'properties' && name !== 'patternProperties') return [name, value]
        return [name, Object.fromEntries(Object.entries(value as Fields).map(([key, each]) => [key, echoed(each)]))]
      }),
  )
}

const { url: _url, html: _html, markdown: _markdown, ...echoedParameters } = captureParameters.properties

const sourceFields: Fields = {
  source: enumSchema(['html', 'markdown'], 'Type of a source that is not a URL. Its text is never returned.'),
  source_bytes: count('Size of the HTML or Markdown source as UTF-8, in bytes.'),
  source_sha256: typed({
    type: 'string',
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 of the HTML or Markdown source, in hex.',
  }),
}

const optionsSchema = (alwaysPresent: readonly string[], description: string): Schema<EchoedOptions> => {
  const fields = Object.entries(echoed({ properties: echoedParameters }) as { properties: Fields }).flatMap(
    ([, properties]) => Object.entries(properties),
  )
  const pick = (isAlwaysPresent: boolean) =>
    Object.fromEntries(fields.filter(([name]) => alwaysPresent.includes(name) === isAlwaysPresent))
  return object({ ...pick(true), ...optional({ ...pick(false), ...sourceFields }) }, description)
}

const effective = ['width', 'height', 'format']

/** The options of a capture that is not completed. */
export const options = named(
  'ScreenshotOptions',
  optionsSchema(
    effective,
    'Effective size and format, and the parameters given in the request, with secrets masked as `***`.',
  ),
)

/** The options of a completed capture. */
export const completedOptions = named(
  'CompletedScreenshotOptions',
  optionsSchema([...effective, ...completedNames], 'As `ScreenshotOptions`, with the main parameters always present.'),
)

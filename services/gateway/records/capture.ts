import { completedNames, type EchoedOptions } from '#shared/capture/echo-options.ts'
import { stages } from '#shared/capture/stages.ts'
import { type Status, statuses } from '#shared/capture/status.ts'
import { outputNames } from '#shared/capture/parameters/kinds.ts'
import { captureParameters, mediaTypes } from '#shared/capture/options.ts'
import { captureErrorCodes } from '#shared/errors/catalog.ts'
import {
  component,
  count,
  enumSchema,
  type Fields,
  flag,
  id,
  named,
  object,
  optional,
  orNull,
  type Schema,
  text,
  timestamp,
  typed,
  url,
} from '#shared/schema/fields.ts'
import { inEnvelope } from './envelope.ts'
import { exampleIds, exampleTimes } from './example-values.ts'

const exampleOptions = { width: 1280, height: 800, format: 'png' }

/** Example of a screenshot just accepted. */
export const acceptedExample = {
  id: exampleIds.screenshot,
  status: 'pending',
  url: 'https://example.com/',
  options: exampleOptions,
  created_at: exampleTimes.created,
} as const

/** Example of a completed screenshot. */
export const completedExample = {
  ...acceptedExample,
  status: 'completed',
  options: {
    ...exampleOptions,
    quality: 80,
    device: 'desktop',
    block_ads: false,
    block_cookies: true,
    dark_mode: false,
    delay: 0,
    timeout: 30,
    retina: false,
    full_page: false,
    extract_metadata: true,
  },
  started_at: '2026-03-01T09:30:00.223456Z',
  completed_at: exampleTimes.completed,
  expires_at: '2026-03-08T09:30:01.823456Z',
  timings: {
    queue: 100,
    claim: 10,
    open: 40,
    navigate: 610,
    prepare: 30,
    settle: 220,
    shoot: 420,
    encode: 170,
    inspect: 10,
    store: 60,
    commit: 20,
    total: 1600,
  },
  file_size: 48_211,
  mime_type: 'image/png',
  width: 1280,
  height: 800,
  processing_time_ms: 1600,
  image_url: `https://shots.example.com/v1/screenshots/${exampleIds.screenshot}/image`,
  cached: false,
  target_status: 200,
  final_url: 'https://example.com/',
  metadata: {
    title: 'Example Domain',
    language: 'en',
    favicon: 'https://example.com/icon.svg',
    og: { title: 'Example Domain', image: 'https://example.com/card.png' },
  },
  warnings: [],
} as const

const kept = ['type', 'enum', 'items', 'properties', 'required', 'patternProperties', 'additionalProperties']

/** The schema of request parameters without its bounds, because masked secrets may be longer or shorter. */
const echoed = (schema: unknown): unknown => {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => kept.includes(name) && !(name === 'type' && 'enum' in schema))
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

const optionsWith = (alwaysThere: readonly string[], description: string): Schema<EchoedOptions> => {
  const fields = Object.entries(echoed({ properties: echoedParameters }) as { properties: Fields }).flatMap(
    ([, properties]) => Object.entries(properties),
  )
  const pick = (wanted: boolean) => Object.fromEntries(fields.filter(([name]) => alwaysThere.includes(name) === wanted))
  return object({ ...pick(true), ...optional({ ...pick(false), ...sourceFields }) }, description)
}

const effective = ['width', 'height', 'format']

/** The options of a capture that is not completed. */
export const options = named(
  'ScreenshotOptions',
  optionsWith(
    effective,
    'Effective size and format, and the parameters given in the request, with secrets masked as `***`.',
  ),
)

/** The options of a completed capture. */
export const completedOptions = named(
  'CompletedScreenshotOptions',
  optionsWith([...effective, ...completedNames], 'As `ScreenshotOptions`, with the main parameters always present.'),
)

const common = (shown: Schema<EchoedOptions>) => ({
  id: id('Id of the screenshot.', acceptedExample.id),
  url: orNull(text('URL of the source, with its password masked; null if the source is HTML or Markdown.')),
  options: shown,
  created_at: timestamp('Time of acceptance.'),
})

const stateOf = (state: Status): Fields => ({
  status: typed({ type: 'string', const: state, description: `Always \`${state}\`.` }),
})

const inBatch: Fields = { batch_id: id('Id of the batch, if the screenshot belongs to one.', exampleIds.batch) }

const begun: Fields = {
  started_at: timestamp('Start time of the latest attempt.'),
  timings: typed({
    type: 'object',
    description:
      'Duration of each stage of the attempt, in milliseconds. `queue` is the wait between the request and the worker, `commit` the time between the result and the record; `total` is the time in the worker, from `open` to `store`.',
    properties: Object.fromEntries(stages.map((name) => [name, { type: 'integer', minimum: 0 }])),
    additionalProperties: false,
  }),
}

const warning = component('Warning', {
  code: text(
    'Machine-readable code: `truncated`, `quality_ignored`, `parameter_ignored`, `selector_not_found`, `blank`, `undecoded_images` and others.',
  ),
  message: text('Human-readable message.'),
})

const image: Fields = {
  completed_at: timestamp('End time of the capture.'),
  file_size: count('Size of the image in bytes.'),
  mime_type: enumSchema(Object.values(mediaTypes), 'Media type of the image.'),
  width: count('Width of the image in pixels.'),
  height: count('Height of the image in pixels; a full-page capture may be higher than the viewport.'),
  processing_time_ms: count('Duration of the capture in milliseconds.'),
  image_url: url('URL of the image. It requires the API key; a signed URL does not.'),
  cached: flag('Whether the result was reused from an earlier capture, at no charge.'),
  warnings: typed({
    type: 'array',
    description: 'Ways in which the result differs from the request. More codes may be added.',
    items: warning,
  }),
}

const socialTags = (prefix: string, example: string) =>
  typed({
    type: 'object',
    description: `Tags whose name begins with \`${prefix}:\`, keyed without that prefix, such as ${example}; the first value of a repeated tag.`,
    additionalProperties: { type: 'string' },
  })

const stored = {
  url: url('URL of the file. It requires the API key.'),
  mime_type: text('Media type of the file.'),
  file_size: count('Size of the file in bytes.'),
}

const storedOutput = component('StoredOutput', { name: enumSchema(outputNames, 'Name of the output.'), ...stored })
const storedRendition = component('StoredRendition', {
  ...stored,
  width: count('Width of the image in pixels.'),
  height: count('Height of the image in pixels.'),
})

const pageMetadata = component(
  'PageMetadata',
  optional({
    title: text('Title of the page, at most 500 characters.'),
    description: text('Description of the page, at most 1,000 characters.'),
    canonical: url('Canonical URL of the page.'),
    language: text('`lang` attribute of the root element.'),
    favicon: url('URL of the icon, if the page declares one.'),
    og: socialTags('og', '`image` and `image:width`'),
    twitter: socialTags('twitter', '`card`'),
  }),
  'Metadata of the page, if requested with `extract_metadata`. Values that the page does not declare are absent; URLs are absolute, http or https.',
)

const imageMore: Fields = {
  outputs: typed({
    type: 'array',
    description: 'Content of the page that was requested with `outputs`, and could be read.',
    items: storedOutput,
  }),
  renditions: typed({
    type: 'array',
    description: 'Images that were requested with `renditions`, in the same order.',
    items: storedRendition,
  }),
  metadata: pageMetadata,
  expires_at: timestamp('End of the retention of the image. Afterwards the image returns 410; the record remains.'),
  target_status: count('HTTP status of the page. A page that returns 404 is captured like any other.'),
  final_url: text('URL of the page after all redirects, with its password masked.'),
}

const captureError = component('CaptureError', {
  code: enumSchema(captureErrorCodes, 'Reason for the failure.'),
  message: text('Human-readable message.'),
})

/** Fields of a capture's record in each state. */
export const fieldsByStatus: Readonly<Record<Status, Fields>> = {
  pending: { ...common(options), ...stateOf('pending'), ...optional(inBatch) },
  processing: { ...common(options), ...stateOf('processing'), ...optional({ ...inBatch, ...begun }) },
  completed: {
    ...common(completedOptions),
    ...stateOf('completed'),
    ...image,
    ...optional({ ...inBatch, ...begun, ...imageMore }),
  },
  failed: {
    ...common(options),
    ...stateOf('failed'),
    error: captureError,
    ...optional({ ...inBatch, ...begun, completed_at: timestamp('End time of the capture.') }),
  },
}

const nameOf = (status: Status) => `${status[0]?.toUpperCase()}${status.slice(1)}Screenshot`

const byStatus = Object.fromEntries(
  statuses.map((status) => [status, component(nameOf(status), fieldsByStatus[status])]),
) as Readonly<Record<Status, Schema>>

type ScreenshotRecord = Readonly<Record<string, unknown>>

/** A record in any of `states`, which determines its fields. */
const inOneOf = (states: readonly Status[], description: string) =>
  typed<ScreenshotRecord>({
    description,
    oneOf: states.map((state) => byStatus[state]),
    discriminator: {
      propertyName: 'status',
      mapping: Object.fromEntries(states.map((state) => [state, `#/components/schemas/${nameOf(state)}`])),
    },
    example: completedExample,
  })

/** A capture in responses. */
export const screenshot = named(
  'Screenshot',
  inOneOf(statuses, 'A screenshot. Fields that its state has not reached are absent, not null.'),
)

/** A capture that has ended. */
export const endedScreenshot = named(
  'EndedScreenshot',
  inOneOf(['completed', 'failed'], 'A completed or failed screenshot.'),
)

/** The record of a capture and its parts, in the order of the document. */
export const recordSchemas = [
  options,
  completedOptions,
  warning,
  pageMetadata,
  captureError,
  storedOutput,
  storedRendition,
  ...Object.values(byStatus),
  screenshot,
  endedScreenshot,
]

const stateNow = enumSchema(
  statuses,
  '`pending`; if the request repeats an earlier one, the current status of its screenshot.',
)

/** Body of a response with a capture. */
export const screenshotAnswer = named('ScreenshotAnswer', inEnvelope(screenshot))

/** Body of a response with a capture that has ended. */
export const endedScreenshotAnswer = named('EndedScreenshotAnswer', inEnvelope(endedScreenshot))

/** A capture at its acceptance. */
export const acceptedScreenshot = named(
  'AcceptedScreenshot',
  typed<ScreenshotRecord>({ ...object({ ...common(options), status: stateNow }), example: acceptedExample }),
)

/** Body of a response with a capture just accepted. */
export const acceptedScreenshotAnswer = named('AcceptedScreenshotAnswer', inEnvelope(acceptedScreenshot))

/** Body of a 202: a capture that has not ended. */
export const flatScreenshot = named(
  'FlatScreenshot',
  typed<ScreenshotRecord>({
    ...object(
      {
        id: id('Id of the screenshot.', acceptedExample.id),
        status: stateNow,
        url: orNull(text('URL of the source; null if the source is HTML or Markdown.')),
        created_at: timestamp('Time of acceptance.'),
        ...optional({ webhook_url: url('URL that is notified on completion, as given in the request.') }),
      },
      'A capture that has not ended; `Location` is the URL of its status.',
    ),
    example: {
      id: acceptedExample.id,
      status: 'pending',
      url: acceptedExample.url,
      webhook_url: 'https://hooks.example.com/screenshots',
      created_at: acceptedExample.created_at,
    },
  }),
)

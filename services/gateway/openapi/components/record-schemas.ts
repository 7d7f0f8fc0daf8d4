import { completedNames } from '#shared/capture/echo-options.ts'
import { stages } from '#shared/capture/stages.ts'
import { statuses } from '#shared/capture/status.ts'
import { captureParameters, mediaTypes } from '#shared/capture/options.ts'
import { captureErrorCodes } from '#shared/errors/catalog.ts'
import {
  address,
  closed,
  count,
  type Fields,
  id,
  inEnvelope,
  type JsonSchema,
  moment,
  orNull,
  schemaRef,
  text,
  word,
} from '#gateway/openapi/json-schema.ts'

const kept = ['type', 'enum', 'items', 'properties', 'required', 'patternProperties', 'additionalProperties']

/** What a request may send, without its bounds: secrets in it are masked, so texts may be longer or shorter. */
const echoed = (schema: unknown): unknown => {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => kept.includes(name))
      .map(([name, value]: [string, unknown]) => {
        if (name === 'items') return [name, echoed(value)]
        if (name !== 'properties' && name !== 'patternProperties') return [name, value]
        return [name, Object.fromEntries(Object.entries(value as Fields).map(([key, each]) => [key, echoed(each)]))]
      }),
  )
}

const { url: _url, html: _html, markdown: _markdown, ...echoedParameters } = captureParameters.properties

const sourceFields: Fields = {
  source: word(['html', 'markdown'], 'Kind of a source that is not an address. Its text is never shown.'),
  source_bytes: count('Size of that source in bytes of UTF-8.'),
  source_sha256: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Digest of that source, in hex.' },
}

const options = (alwaysThere: readonly string[], description: string): JsonSchema => {
  const fields = Object.entries(echoed({ properties: echoedParameters }) as { properties: Fields }).flatMap(
    ([, properties]) => Object.entries(properties),
  )
  const pick = (wanted: boolean) => Object.fromEntries(fields.filter(([name]) => alwaysThere.includes(name) === wanted))
  return closed(pick(true), { ...pick(false), ...sourceFields }, description)
}

const effective = ['width', 'height', 'format']
const effectiveOnceCompleted = [...effective, ...completedNames]

const common = (optionsName: string): Fields => ({
  id: id('Id of the screenshot.'),
  url: orNull(text('Source address, its password masked; null where the source is HTML or Markdown.')),
  options: schemaRef(optionsName),
  created_at: moment('When it was accepted.'),
})

const stateOf = (state: (typeof statuses)[number]): Fields => ({
  status: { type: 'string', const: state, description: `\`${state}\`.` },
})

const inBatch: Fields = { batch_id: id('The batch that it belongs to.') }

const begun: Fields = {
  started_at: moment('When its latest attempt began.'),
  timings: {
    type: 'object',
    description:
      'Milliseconds of each stage of the attempt. `queue` is the wait from the request to a worker, `commit` that from the result to the record; `total` is what the worker took, from `open` to `store`.',
    properties: Object.fromEntries(stages.map((name) => [name, { type: 'integer', minimum: 0 }])),
    additionalProperties: false,
  },
}

const image: Fields = {
  completed_at: moment('When it ended.'),
  file_size: count('Bytes of the image.'),
  mime_type: word(Object.values(mediaTypes), 'Media type of the image.'),
  width: count('Pixels.'),
  height: count('Pixels; of a full-page capture more than the viewport has.'),
  processing_time_ms: count('Milliseconds that the capture took.'),
  image_url: address('Where the image is. It needs the API key; a signed URL does not.'),
  cached: { type: 'boolean', description: "Whether it shows an earlier capture's result, and was free." },
  warnings: {
    type: 'array',
    description: 'What the result is not as it was asked for. More codes may come.',
    items: schemaRef('Warning'),
  },
}

const socialTags = (prefix: string, example: string): JsonSchema => ({
  type: 'object',
  description: `Tags whose name begins with \`${prefix}:\`, without that, such as ${example}; of a repeated one the first.`,
  additionalProperties: { type: 'string' },
})

const imageMore: Fields = {
  metadata: schemaRef('PageMetadata'),
  expires_at: moment('When the retention of the image ends. Afterwards it answers 410; the record stays.'),
  target_status: count("HTTP status of the page. A page's 404 is a capture like any other."),
  final_url: text('Address of the page after all redirects, its password masked.'),
}

/** A screenshot's record in each of its states, and the parts of it. */
export const recordSchemas: Fields = {
  ScreenshotOptions: options(
    effective,
    'Effective size and format, and what the request supplied, secrets masked as `***`.',
  ),
  CompletedScreenshotOptions: options(
    effectiveOnceCompleted,
    'As `ScreenshotOptions`; the main parameters are always there.',
  ),
  Warning: closed({
    code: text(
      'For machines: `truncated`, `quality_ignored`, `parameter_ignored`, `selector_not_found`, `blank`, `undecoded_images` and others.',
    ),
    message: text('For people.'),
  }),
  PageMetadata: closed(
    {},
    {
      title: text('Title of the page, at most 500 characters.'),
      description: text('Its description, at most 1,000 characters.'),
      canonical: address('Its canonical address.'),
      language: text('The `lang` of its root element.'),
      favicon: address('Its icon, where it names one.'),
      og: socialTags('og', '`image` and `image:width`'),
      twitter: socialTags('twitter', '`card`'),
    },
    'What the page says of itself, where `extract_metadata` asked for it. What it does not say is absent; addresses are absolute, http or https.',
  ),
  CaptureError: closed({
    code: word(captureErrorCodes, 'Why the capture failed.'),
    message: text('For people.'),
  }),
  PendingScreenshot: closed({ ...common('ScreenshotOptions'), ...stateOf('pending') }, inBatch),
  ProcessingScreenshot: closed({ ...common('ScreenshotOptions'), ...stateOf('processing') }, { ...inBatch, ...begun }),
  CompletedScreenshot: closed(
    { ...common('CompletedScreenshotOptions'), ...stateOf('completed'), ...image },
    { ...inBatch, ...begun, ...imageMore },
  ),
  FailedScreenshot: closed(
    { ...common('ScreenshotOptions'), ...stateOf('failed'), error: schemaRef('CaptureError') },
    { ...inBatch, ...begun, completed_at: moment('When it ended.') },
  ),
  Screenshot: {
    description: 'A screenshot. A field that its state has not reached is absent, not null.',
    oneOf: statuses.map((state) => schemaRef(nameOf(state))),
    discriminator: {
      propertyName: 'status',
      mapping: Object.fromEntries(statuses.map((state) => [state, `#/components/schemas/${nameOf(state)}`])),
    },
  },
  EndedScreenshot: {
    description: 'A screenshot that has ended.',
    oneOf: [schemaRef('CompletedScreenshot'), schemaRef('FailedScreenshot')],
    discriminator: {
      propertyName: 'status',
      mapping: {
        completed: '#/components/schemas/CompletedScreenshot',
        failed: '#/components/schemas/FailedScreenshot',
      },
    },
  },
  ScreenshotAnswer: inEnvelope(schemaRef('Screenshot')),
  EndedScreenshotAnswer: inEnvelope(schemaRef('EndedScreenshot')),
  AcceptedScreenshot: closed({
    ...common('ScreenshotOptions'),
    status: word(statuses, '`pending`; where the request repeats an earlier one, the state of its screenshot now.'),
  }),
  AcceptedScreenshotAnswer: inEnvelope(schemaRef('AcceptedScreenshot')),
  FlatScreenshot: closed(
    {
      id: id('Id of the screenshot.'),
      status: word(statuses, '`pending`; where the request repeats an earlier one, the state of its screenshot now.'),
      url: orNull(text('Source address; null where the source is HTML or Markdown.')),
      created_at: moment('When it was accepted.'),
    },
    { webhook_url: address('The address that is notified on completion, as it was given.') },
    'A capture that goes on, found under `Location`.',
  ),
}

function nameOf(state: (typeof statuses)[number]): string {
  return `${state[0]?.toUpperCase()}${state.slice(1)}Screenshot`
}

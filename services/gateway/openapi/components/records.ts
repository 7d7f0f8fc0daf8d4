import { completedNames, type EchoedOptions } from '#shared/capture/echo-options.ts'
import { stages } from '#shared/capture/stages.ts'
import { type Status, statuses } from '#shared/capture/status.ts'
import { captureParameters, mediaTypes } from '#shared/capture/options.ts'
import { captureErrorCodes } from '#shared/errors/catalog.ts'
import { address, count, id, moment, orNull, text, word } from '#gateway/openapi/fields.ts'
import {
  closed,
  components,
  type Exampled,
  type Fields,
  inEnvelope,
  partOf,
  type Schema,
  schemaRef,
  typed,
} from '#gateway/openapi/json-schema.ts'
import { exampleIds, exampleTimes } from './example-values.ts'

const kept = ['type', 'enum', 'items', 'properties', 'required', 'patternProperties', 'additionalProperties']

/** The schema of request parameters without its bounds, because masked secrets may be longer or shorter. */
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
  source_sha256: typed({ type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Digest of that source, in hex.' }),
}

const options = (alwaysThere: readonly string[], description: string): Schema => {
  const fields = Object.entries(echoed({ properties: echoedParameters }) as { properties: Fields }).flatMap(
    ([, properties]) => Object.entries(properties),
  )
  const pick = (wanted: boolean) => Object.fromEntries(fields.filter(([name]) => alwaysThere.includes(name) === wanted))
  return closed(pick(true), { ...pick(false), ...sourceFields }, description)
}

const effective = ['width', 'height', 'format']
const effectiveOnceCompleted = [...effective, ...completedNames]

const common = (optionsName: string) => ({
  id: id('Id of the screenshot.'),
  url: orNull(text('Source address, its password masked; null where the source is HTML or Markdown.')),
  options: schemaRef<EchoedOptions>(optionsName),
  created_at: moment('When it was accepted.'),
})

const stateOf = (state: Status): Fields => ({
  status: typed({ type: 'string', const: state, description: `\`${state}\`.` }),
})

const inBatch: Fields = { batch_id: id('The batch that it belongs to.') }

const begun: Fields = {
  started_at: moment('When its latest attempt began.'),
  timings: typed({
    type: 'object',
    description:
      'Milliseconds of each stage of the attempt. `queue` is the wait from the request to a worker, `commit` that from the result to the record; `total` is what the worker took, from `open` to `store`.',
    properties: Object.fromEntries(stages.map((name) => [name, { type: 'integer', minimum: 0 }])),
    additionalProperties: false,
  }),
}

const image: Fields = {
  completed_at: moment('When it ended.'),
  file_size: count('Bytes of the image.'),
  mime_type: word(Object.values(mediaTypes), 'Media type of the image.'),
  width: count('Pixels.'),
  height: count('Pixels; of a full-page capture more than the viewport has.'),
  processing_time_ms: count('Milliseconds that the capture took.'),
  image_url: address('Where the image is. It needs the API key; a signed URL does not.'),
  cached: typed({ type: 'boolean', description: "Whether it shows an earlier capture's result, and was free." }),
  warnings: typed({
    type: 'array',
    description: 'What the result is not as it was asked for. More codes may come.',
    items: schemaRef('Warning'),
  }),
}

const socialTags = (prefix: string, example: string) =>
  typed({
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

/** A record in any of `states`. */
const inOneOf = (states: readonly Status[], description: string) => {
  const names = states.map((state) => [state, `${state[0]?.toUpperCase()}${state.slice(1)}Screenshot`] as const)
  const mapping = Object.fromEntries(names.map(([state, name]) => [state, `#/components/schemas/${name}`]))
  return typed({
    description,
    oneOf: names.map(([, name]) => schemaRef(name)),
    discriminator: { propertyName: 'status', mapping },
  })
}

/** Schemas of a screenshot's record in each state, and of its parts. */
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
  Screenshot: inOneOf(statuses, 'A screenshot. A field that its state has not reached is absent, not null.'),
  EndedScreenshot: inOneOf(['completed', 'failed'], 'A screenshot that has ended.'),
}

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

type ScreenshotRecord = Readonly<Record<string, unknown>>

/** A screenshot in any state, which determines its fields. */
export const screenshot: Exampled<ScreenshotRecord> = [schemaRef('Screenshot'), completedExample]

const stateNow = word(statuses, '`pending`; where the request repeats an earlier one, the state of its screenshot now.')

const accepted = [closed({ ...common('ScreenshotOptions'), status: stateNow }), acceptedExample] as const

/** Components of responses with a full record, or with its fields at acceptance. */
export const recordComponents = components({
  ScreenshotAnswer: inEnvelope(screenshot),
  EndedScreenshotAnswer: inEnvelope<ScreenshotRecord>([schemaRef('EndedScreenshot'), completedExample]),
  AcceptedScreenshot: accepted,
  AcceptedScreenshotAnswer: inEnvelope(partOf('AcceptedScreenshot', accepted)),
  FlatScreenshot: [
    closed(
      {
        id: id('Id of the screenshot.'),
        status: stateNow,
        url: orNull(text('Source address; null where the source is HTML or Markdown.')),
        created_at: moment('When it was accepted.'),
      },
      { webhook_url: address('The address that is notified on completion, as it was given.') },
      'A capture that goes on, found under `Location`.',
    ),
    {
      id: acceptedExample.id,
      status: 'pending',
      url: acceptedExample.url,
      webhook_url: 'https://hooks.example.com/screenshots',
      created_at: acceptedExample.created_at,
    },
  ],
})

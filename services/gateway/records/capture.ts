import type { EchoedOptions } from '#shared/capture/echo-options.ts'
import { stages } from '#shared/capture/stages.ts'
import { type Status, statuses } from '#shared/capture/status.ts'
import { outputNames } from '#shared/capture/parameters/kinds.ts'
import { mediaTypes } from '#shared/capture/options.ts'
import { failures } from '#shared/errors/delivery-failures.ts'
import { uploadStatuses } from './upload-destination.ts'
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
import { acceptedExample, completedExample } from './capture-examples.ts'
import { completedOptions, options } from './capture-options.ts'
import { inEnvelope } from './envelope.ts'
import { exampleIds } from './example-values.ts'

const commonFields = (optionsSchema: Schema<EchoedOptions>) => ({
  id: id('Id of the screenshot.', acceptedExample.id),
  url: orNull(text('URL of the source, with its password masked; null if the source is HTML or Markdown.')),
  options: optionsSchema,
  created_at: timestamp('Time of acceptance.'),
})

const statusField = (state: Status): Fields => ({
  status: typed({ type: 'string', const: state, description: `Always \`${state}\`.` }),
})

const batchFields: Fields = { batch_id: id('Id of the batch, if the screenshot belongs to one.', exampleIds.batch) }

const attemptFields: Fields = {
  started_at: timestamp('Start time of the latest attempt.'),
  timings: typed({
    type: 'object',
    description:
      'Duration of each stage of the attempt, in milliseconds. `queue` is the wait between the request and the worker, `commit` the time between the result and the record; `total` is the time in the worker, from `open` to `store`.',
    properties: Object.fromEntries(stages.map((name) => [name, { type: 'integer', minimum: 0 }])),
    additionalProperties: false,
  }),
}

const uploadErrors = [...failures, 'destination_deleted'] as const

/** The upload of an image to the bucket of a destination. */
const screenshotUpload = component(
  'ScreenshotUpload',
  {
    status: enumSchema(
      uploadStatuses,
      '`pending` until the image is uploaded or given up; `failed`: no further attempt is scheduled.',
    ),
    bucket: orNull(text('Name of the bucket; null until the capture is completed.')),
    key: orNull(text('Key of the object; null until the capture is completed.')),
    attempts: count('Attempts so far.'),
    http_status: orNull(count('HTTP status of the latest response; null if there was none.')),
    error: typed<(typeof uploadErrors)[number] | null>({
      type: ['string', 'null'],
      enum: [...uploadErrors, null],
      description: 'Why the latest attempt failed, or `destination_deleted`; null if it succeeded, or there was none.',
    }),
  },
  'Upload of the image, if requested with `upload_to`. It never changes the result of the capture.',
)

const uploadField: Fields = { upload: screenshotUpload }

const warning = component('Warning', {
  code: text(
    'Machine-readable code: `truncated`, `quality_ignored`, `parameter_ignored`, `selector_not_found`, `blank`, `undecoded_images` and others.',
  ),
  message: text('Human-readable message.'),
})

const imageFields: Fields = {
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

const fileFields = {
  url: url('URL of the file. It requires the API key.'),
  mime_type: text('Media type of the file.'),
  file_size: count('Size of the file in bytes.'),
}

const storedOutput = component('StoredOutput', { name: enumSchema(outputNames, 'Name of the output.'), ...fileFields })
const storedRendition = component('StoredRendition', {
  ...fileFields,
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

const optionalImageFields: Fields = {
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
  pending: { ...commonFields(options), ...statusField('pending'), ...optional({ ...batchFields, ...uploadField }) },
  processing: {
    ...commonFields(options),
    ...statusField('processing'),
    ...optional({ ...batchFields, ...attemptFields, ...uploadField }),
  },
  completed: {
    ...commonFields(completedOptions),
    ...statusField('completed'),
    ...imageFields,
    ...optional({ ...batchFields, ...attemptFields, ...optionalImageFields, ...uploadField }),
  },
  failed: {
    ...commonFields(options),
    ...statusField('failed'),
    error: captureError,
    ...optional({ ...batchFields, ...attemptFields, completed_at: timestamp('End time of the capture.') }),
  },
}

const componentName = (status: Status) => `${status[0]?.toUpperCase()}${status.slice(1)}Screenshot`

const byStatus = Object.fromEntries(
  statuses.map((status) => [status, component(componentName(status), fieldsByStatus[status])]),
) as Readonly<Record<Status, Schema>>

type ScreenshotRecord = Readonly<Record<string, unknown>>

/** A record in any of `states`, which determines its fields. */
const recordIn = (states: readonly Status[], description: string) =>
  typed<ScreenshotRecord>({
    description,
    oneOf: states.map((state) => byStatus[state]),
    discriminator: {
      propertyName: 'status',
      mapping: Object.fromEntries(states.map((state) => [state, `#/components/schemas/${componentName(state)}`])),
    },
    example: completedExample,
  })

/** A capture in responses. */
export const screenshot = named(
  'Screenshot',
  recordIn(statuses, 'A screenshot. Fields that its state has not reached are absent, not null.'),
)

/** A capture that has ended. */
export const endedScreenshot = named(
  'EndedScreenshot',
  recordIn(['completed', 'failed'], 'A completed or failed screenshot.'),
)

/** The record of a capture and its parts, in the order of the document. */
export const recordSchemas = [
  options,
  completedOptions,
  warning,
  pageMetadata,
  captureError,
  screenshotUpload,
  storedOutput,
  storedRendition,
  ...Object.values(byStatus),
  screenshot,
  endedScreenshot,
]

const currentStatus = enumSchema(
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
  typed<ScreenshotRecord>({ ...object({ ...commonFields(options), status: currentStatus }), example: acceptedExample }),
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
        status: currentStatus,
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

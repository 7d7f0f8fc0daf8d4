import { limitHeaders } from '#gateway/openapi/answer-headers.ts'
import { captureQuery } from '#gateway/openapi/capture-query.ts'
import type { ErrorSet } from '#gateway/openapi/error-sets.ts'
import { examples } from '#gateway/openapi/examples.ts'
import { closed, count, id, type JsonSchema, moment, schemaRef, word } from '#gateway/openapi/json-schema.ts'
import {
  type AnswerDoc,
  emptyAnswer,
  everyError,
  headerParameter,
  idempotencyKey,
  imageContent,
  imageHeaderNames,
  jsonAnswer,
  type OperationDoc,
  pathParameter,
  queryParameter,
  streamAnswer,
  usualErrors,
} from '#gateway/openapi/operation-doc.ts'

const tag = 'Screenshots'
const screenshotId = pathParameter('id', 'Id of the screenshot.')

const acceptErrors: readonly ErrorSet[] = [
  ...everyError,
  'QuotaUsedUp',
  'ForbiddenFeature',
  'NotFound',
  'TooManyRequestsOrWaiting',
]
const captureErrors: readonly ErrorSet[] = [...acceptErrors, 'ImageGone', 'InternalOrFailed']
const readErrors: readonly ErrorSet[] = [...usualErrors, 'Forbidden', 'NotFound']

const resultAnswer: AnswerDoc = {
  description: 'The image; with `response_type=json` the record of a screenshot that has completed or failed.',
  headers: ['Idempotent-Replayed', ...limitHeaders, 'X-Screenshot-Id', 'X-Cache', 'X-Target-Status'],
  content: {
    ...imageContent,
    'application/json': { schema: schemaRef('EndedScreenshotAnswer'), example: examples.completed },
  },
}

const goesOnAnswer = jsonAnswer(
  'The capture goes on: a webhook will tell of its end, or it takes longer than a synchronous answer may.',
  'FlatScreenshot',
  examples.flat,
  ['Location', 'Retry-After', 'X-Screenshot-Id', 'X-Cache', 'Idempotent-Replayed'],
)

const captureText =
  'Opens the page and answers with the image, usually within 1 to 8 seconds; clients should wait for at least 60. Where the image is wanted and the capture fails, the answer is an error with the code of the capture.'

const captureExample = { url: 'https://example.com/', full_page: true, format: 'png' }

const imageParameters = [
  screenshotId,
  queryParameter('expires', 'Of a signed link: Unix time at which it ends; none for a permanent one.', {
    type: 'string',
    pattern: '^[0-9]{1,12}$',
  }),
  queryParameter('kid', 'Of a signed link: the key that signed it.', { type: 'string' }),
  headerParameter('If-None-Match', 'An `ETag` that the client has: 304 where it still holds.', { type: 'string' }),
]

const rangeParameters = [
  headerParameter('Range', 'A part of the image, `bytes=0-1023`. Several parts in one are answered with the whole.', {
    type: 'string',
  }),
  headerParameter('If-Range', 'An `ETag`: the part only where it still holds, else the whole.', { type: 'string' }),
]

const imageErrors: readonly ErrorSet[] = [...usualErrors, 'ForbiddenImage', 'ImageNotFound', 'ImageGone']

const deleted = closed({ id: id('Id of what was deleted.') })
const unauthorized = closed({
  code: { type: 'string', const: 'INVALID_API_KEY', description: 'As in the envelope of errors.' },
  message: { type: 'string', description: 'What happened, for people.' },
})
const counts = ['total', 'pending', 'processing', 'completed', 'failed']

const captureEvents = {
  status: closed(
    { status: word(['pending', 'processing'], 'State of the screenshot.') },
    { position: count('How many captures wait before this one.') },
  ),
  started: closed({ started_at: moment('When the attempt began.') }),
  result: schemaRef('EndedScreenshot'),
  deleted,
  unauthorized,
}

const batchEvents = {
  status: closed({
    status: word(['pending', 'processing', 'completed'], 'State of the batch.'),
    ...Object.fromEntries(counts.map((name) => [name, count('How many.')])),
  }),
  screenshot: {
    type: 'object',
    description: 'The record of a screenshot that has ended, with its `index`.',
    properties: { index: count('Place of its URL in the request, from 0.') },
    required: ['index', 'id', 'status'],
    additionalProperties: true,
  },
  result: schemaRef('Batch'),
  deleted,
  unauthorized,
}

const wait: JsonSchema = { type: 'integer', minimum: 0, maximum: 60, default: 0 }

const listParameters = [
  queryParameter('page', 'Number of the page. The first 10,000 screenshots have numbers; `cursor` goes further.', {
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
    default: 1,
  }),
  queryParameter('per_page', 'Screenshots of a page.', { type: 'integer', minimum: 1, maximum: 100, default: 20 }),
  queryParameter('status', 'Only those in this state.', {
    type: 'string',
    enum: ['pending', 'processing', 'completed', 'failed'],
  }),
  queryParameter('from', 'Only those created at this date or date-time or later.', { type: 'string' }),
  queryParameter('to', 'Only those created at this date or date-time or before.', { type: 'string' }),
  queryParameter('cursor', '`meta.next_cursor` of an earlier page; not together with `page`.', { type: 'string' }),
]

/** Captures and what becomes of them. */
export const screenshotOperations = {
  capture_get: {
    tag,
    summary: 'Capture a page, parameters in the query',
    description: `${captureText} Lists may be repeated keys, \`key[]\`, a comma list or JSON; objects \`key[sub]\` or JSON; booleans \`true\`, \`false\`, \`1\` or \`0\`.`,
    parameters: captureQuery(),
    answers: { 200: resultAnswer, 202: goesOnAnswer },
    errors: [...captureErrors, 'InvalidOrFailed'],
  },
  capture_post: {
    tag,
    summary: 'Capture a page',
    description: captureText,
    parameters: [idempotencyKey],
    body: { schema: 'CaptureParameters', example: captureExample },
    answers: { 200: resultAnswer, 202: goesOnAnswer },
    errors: [...captureErrors, 'InvalidRepeatedOrFailed', 'TooLarge'],
  },
  create: {
    tag,
    summary: 'Create a screenshot',
    description:
      'Accepts a capture and answers at once. The result is found at the status operation, sent to `webhook_url`, or told live by the stream of events. With `response_type=image`, and no `webhook_url`, it answers as the synchronous capture does.',
    parameters: [idempotencyKey],
    body: { schema: 'CaptureParameters', example: { ...captureExample, cache_ttl: 3600 } },
    answers: {
      200: resultAnswer,
      202: {
        ...jsonAnswer('Accepted.', 'AcceptedScreenshotAnswer', examples.accepted, [
          'Location',
          'Retry-After',
          'X-Screenshot-Id',
          'X-Cache',
          'Idempotent-Replayed',
        ]),
        content: {
          'application/json': {
            schema: { anyOf: [schemaRef('AcceptedScreenshotAnswer'), schemaRef('FlatScreenshot')] },
            example: examples.accepted,
          },
        },
      },
    },
    errors: [...captureErrors, 'InvalidRepeatedOrFailed', 'TooLarge'],
  },
  list: {
    tag,
    summary: 'List screenshots',
    description: "The account's screenshots, newest first, by pages or by cursor.",
    parameters: listParameters,
    answers: { 200: jsonAnswer('A page of the list.', 'ScreenshotPage', examples.page) },
    errors: [...usualErrors, 'Forbidden', 'Invalid'],
  },
  status: {
    tag,
    summary: 'Show a screenshot',
    description: 'The record as it is now; with `wait`, as soon as the capture has ended, or after that many seconds.',
    parameters: [screenshotId, queryParameter('wait', 'Seconds to wait for the end of the capture.', wait)],
    answers: { 200: jsonAnswer('The screenshot.', 'ScreenshotAnswer', examples.completed) },
    errors: [...readErrors, 'Invalid'],
  },
  events: {
    tag,
    summary: 'Follow a screenshot',
    description:
      'Server-sent events: `status` `{ status, position? }` whenever it is another, `started` `{ started_at }`, and last `result` with the record, or `deleted` `{ id }`, or `unauthorized` `{ code, message }` where the key was revoked or has expired meanwhile. `position` is how many captures wait before this one.',
    parameters: [
      screenshotId,
      headerParameter('Last-Event-ID', 'The last event that was seen; after `result` the answer is 204.', {
        type: 'string',
      }),
    ],
    answers: {
      200: streamAnswer(captureEvents, examples.events),
      204: emptyAnswer('The end has been seen; clients stop connecting.'),
    },
    errors: [...readErrors, 'Invalid'],
  },
  image: {
    tag,
    summary: 'Download the image',
    description:
      'The image of a completed screenshot, whole or in part, for an API key or a signed link. Parameters that are not named here are ignored.',
    takesLinks: true,
    parameters: [...imageParameters, ...rangeParameters],
    answers: {
      200: {
        description: 'The image.',
        headers: [...limitHeaders, ...imageHeaderNames, 'Accept-Ranges'],
        content: imageContent,
      },
      206: {
        description: 'The part that was asked for.',
        headers: [...limitHeaders, ...imageHeaderNames, 'Accept-Ranges', 'Content-Range'],
        content: imageContent,
      },
      304: emptyAnswer('The client has the image already.', [...limitHeaders, 'ETag', 'X-Screenshot-Id', 'X-Cache']),
      416: emptyAnswer('The image has no such part.', [...limitHeaders, 'Content-Range']),
    },
    errors: imageErrors,
  },
  image_head: {
    tag,
    summary: 'Look at the image',
    description: 'What the download would say, without the image. Errors have their status and no body.',
    takesLinks: true,
    parameters: imageParameters,
    answers: {
      200: emptyAnswer('The image is there.', [...limitHeaders, ...imageHeaderNames, 'Accept-Ranges']),
      304: emptyAnswer('The client has the image already.', [...limitHeaders, 'ETag', 'X-Screenshot-Id', 'X-Cache']),
    },
    errors: imageErrors,
  },
  delete: {
    tag,
    summary: 'Delete a screenshot',
    description: 'Deletes a screenshot in whatever state it is, with its image and everything else that is kept of it.',
    parameters: [screenshotId],
    answers: { 204: emptyAnswer('Deleted. The id answers 404 from now on.') },
    errors: [...readErrors, 'Invalid'],
  },
  sign_url: {
    tag,
    summary: 'Make a signed link',
    description: 'A link to the image that needs no API key, for example in `<img>`. Deleting the screenshot ends it.',
    parameters: [screenshotId, idempotencyKey],
    body: { schema: 'SignedUrlParameters', isOptional: true, example: { expires_in: 60 } },
    answers: { 200: jsonAnswer('The link.', 'SignedUrlAnswer', examples.link, ['Idempotent-Replayed']) },
    errors: [...usualErrors, 'ForbiddenFeature', 'NotFound', 'InvalidOrRepeated', 'TooLarge'],
  },
  batch: {
    tag: 'Batches',
    summary: 'Capture up to 100 URLs',
    description:
      'Accepts one capture for each URL, all or none. Counts once against the minute limit, and once for each URL against the quota.',
    parameters: [idempotencyKey],
    body: {
      schema: 'BatchParameters',
      example: { urls: ['https://example.com/', 'https://example.org/'], full_page: true },
    },
    answers: { 202: jsonAnswer('Accepted.', 'BatchAnswer', examples.batch, ['Location', 'Idempotent-Replayed']) },
    errors: [...acceptErrors, 'InternalError', 'InvalidOrRepeated', 'TooLarge'],
  },
  batch_status: {
    tag: 'Batches',
    summary: 'Show a batch',
    description: 'A batch and its screenshots as they are now.',
    parameters: [pathParameter('id', 'Id of the batch.')],
    answers: { 200: jsonAnswer('The batch.', 'BatchAnswer', examples.batch) },
    errors: [...readErrors, 'Invalid'],
  },
  batch_events: {
    tag: 'Batches',
    summary: 'Follow a batch',
    description:
      'Server-sent events: `status` with the counts whenever they are others, `screenshot` with `index` and the record of each screenshot at its end, and last `result` with the batch, or `deleted`, or `unauthorized` where the key was revoked or has expired meanwhile.',
    parameters: [
      pathParameter('id', 'Id of the batch.'),
      headerParameter('Last-Event-ID', 'What was seen is not told again; after `result` the answer is 204.', {
        type: 'string',
      }),
    ],
    answers: {
      200: streamAnswer(batchEvents, examples.batchEvents),
      204: emptyAnswer('The end has been seen; clients stop connecting.'),
    },
    errors: [...readErrors, 'Invalid'],
  },
} as const satisfies Record<string, OperationDoc>

import { captureErrorCodes, catalog, type ErrorCode } from '#shared/errors/catalog.ts'
import {
  count,
  enumSchema,
  id,
  type JsonSchema,
  object,
  optional,
  type Schema,
  text,
  typed,
  url,
} from '#shared/schema/fields.ts'
import { toPascalCase } from '#gateway/records/event.ts'
import { exampleIds } from '#gateway/records/example-values.ts'

const ofTarget = captureErrorCodes.filter((code) => catalog[code].status === 422)
const ofOurs = captureErrorCodes.filter((code) => catalog[code].status === 500)

/** Component names of error sets with one status. Other sets are named after their codes. */
const setNames: Readonly<Record<string, readonly ErrorCode[]>> = {
  Unauthorized: ['INVALID_API_KEY', 'UNAUTHORIZED'],
  QuotaUsedUp: ['USAGE_LIMIT_EXCEEDED'],
  Forbidden: ['DOMAIN_NOT_ALLOWED', 'FORBIDDEN'],
  ForbiddenFeature: ['DOMAIN_NOT_ALLOWED', 'FORBIDDEN', 'FEATURE_NOT_AVAILABLE'],
  ForbiddenImage: ['DOMAIN_NOT_ALLOWED', 'FORBIDDEN', 'INVALID_SIGNATURE', 'SIGNATURE_EXPIRED'],
  ImageNotFound: ['NOT_FOUND', 'NOT_READY'],
  ImageGone: ['EXPIRED'],
  TooLarge: ['PAYLOAD_TOO_LARGE'],
  HeadTooLarge: ['URI_TOO_LONG'],
  Invalid: ['VALIDATION_ERROR'],
  InvalidOrRepeated: ['VALIDATION_ERROR', 'IDEMPOTENCY_MISMATCH'],
  InvalidOrFailed: ['VALIDATION_ERROR', ...ofTarget],
  InvalidRepeatedOrFailed: ['VALIDATION_ERROR', 'IDEMPOTENCY_MISMATCH', ...ofTarget],
  TooManyRequests: ['RATE_LIMIT_EXCEEDED'],
  TooManyRequestsOrWaiting: ['RATE_LIMIT_EXCEEDED', 'QUEUE_FULL'],
  InternalError: ['SERVER_ERROR'],
  InternalOrFailed: ['SERVER_ERROR', ...ofOurs],
  Unavailable: ['SERVICE_UNAVAILABLE'],
}

/** The errors that an operation may return with one status, at least one; a component of the document. */
export type ErrorSet = { readonly name: string; readonly status: number; readonly codes: readonly ErrorCode[] }

const nameOf = (codes: readonly ErrorCode[]): string => {
  const known = Object.entries(setNames).find(([, each]) => each.join() === codes.join())
  return known?.[0] ?? codes.map(toPascalCase).join('Or')
}

/** Groups errors by status, each group in the catalogue's order. */
export const errorSetsOf = (errors: readonly ErrorCode[]): readonly ErrorSet[] => {
  const ordered = (Object.keys(catalog) as ErrorCode[]).filter((code) => errors.includes(code))
  const byStatus = Map.groupBy(ordered, (code) => catalog[code].status)
  return [...byStatus].map(([status, codes]) => ({ name: nameOf(codes), status, codes }))
}

/** The errors that operations of this kind may return, in addition to their own. */
export const commonErrors = (route: {
  readonly access: 'key' | 'link' | 'signature' | 'open'
  readonly accepts?: true
  readonly method: string
  readonly path: string
  readonly body?: object
}): readonly ErrorCode[] => {
  const groups: readonly (readonly [boolean, readonly ErrorCode[]])[] = [
    [true, ['BAD_REQUEST', 'URI_TOO_LONG', 'SERVER_ERROR']],
    [
      route.access === 'key' || route.access === 'link',
      ['INVALID_API_KEY', 'UNAUTHORIZED', 'DOMAIN_NOT_ALLOWED', 'FORBIDDEN'],
    ],
    [route.access !== 'open', ['RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE']],
    [route.access === 'key', ['VALIDATION_ERROR']],
    [route.path.includes(':'), ['NOT_FOUND']],
    [route.method === 'POST', ['IDEMPOTENCY_MISMATCH']],
    [route.body !== undefined, ['PAYLOAD_TOO_LARGE']],
    [route.accepts === true, ['USAGE_LIMIT_EXCEEDED', 'FEATURE_NOT_AVAILABLE', 'NOT_FOUND', 'QUEUE_FULL']],
  ]
  return groups.flatMap(([applies, codes]) => (applies ? codes : []))
}

const repeatable: readonly number[] = [429, 503]
/** Error statuses of requests that were, or may have been, accepted. */
const afterAccept: readonly number[] = [404, 410, 422, 500, 503]

const details = typed({
  type: 'object',
  description: 'With `VALIDATION_ERROR`: messages by field. All invalid fields are reported at once.',
  additionalProperties: { type: 'array', minItems: 1, items: { type: 'string' } },
})

/** How a document describes errors. */
export type ErrorWords = {
  /** Messages that differ from those of the catalogue. */
  readonly messages: Readonly<Partial<Record<ErrorCode, string>>>
  /** An example of `details`. */
  readonly details: Readonly<Record<string, readonly string[]>>
  /** Whether errors may name a screenshot. */
  readonly namesScreenshots: boolean
}

/** The schema of the error envelope for a set of errors. */
export const errorSchema = ({ status, codes }: ErrorSet, { namesScreenshots }: ErrorWords): Schema => {
  const detailed = codes.includes('VALIDATION_ERROR') && { details }
  return object({
    error: object({
      code: enumSchema(codes, 'Machine-readable code.'),
      message: text('Human-readable message.'),
      status: typed({ type: 'integer', const: status, description: 'HTTP status of the response.' }),
      request_id: text('Id of the request, as in `X-Request-Id`.'),
      doc_url: url('Where the error is explained.'),
      ...(repeatable.includes(status) && {
        retry_after: count('Seconds to wait before retrying, as in `Retry-After`.'),
      }),
      ...(detailed && (codes.length === 1 ? detailed : optional(detailed))),
      ...(namesScreenshots &&
        afterAccept.includes(status) &&
        optional({
          screenshot_id: id('Id of the screenshot that failed, or may have been accepted.', exampleIds.screenshot),
        })),
    }),
  })
}

const messageOf = (code: ErrorCode, { messages }: ErrorWords): string => messages[code] ?? catalog[code].publicMessage

/** Path of the page with the errors, without the version's prefix. */
export const errorsPath = '/docs/errors'

/** An example of the error envelope for a set of errors. */
export const errorExample = ({ status, codes }: ErrorSet, words: ErrorWords): JsonSchema => {
  const [code] = codes as [ErrorCode]
  return {
    error: {
      code,
      message: messageOf(code, words),
      status,
      request_id: '0b6a3a1e-6a0e-4b0a-9d43-0c0d3c2a9a10',
      doc_url: `https://shots.example.com/v1/docs/errors#${code}`,
      ...(repeatable.includes(status) && { retry_after: 12 }),
      ...(code === 'VALIDATION_ERROR' && { details: words.details }),
    },
  }
}

/** Describes a set of errors in one line. */
export const errorDescription = ({ codes }: ErrorSet, words: ErrorWords): string =>
  codes.map((code) => `\`${code}\`: ${messageOf(code, words)}`).join(' ')

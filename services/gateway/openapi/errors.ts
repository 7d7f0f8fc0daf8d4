import { captureErrorCodes, catalog, type ErrorCode } from '#shared/errors/catalog.ts'
import { type Fields, id, type JsonSchema, text, word } from './json-schema.ts'

const ofTarget = captureErrorCodes.filter((code) => catalog[code].status === 422)
const ofOurs = captureErrorCodes.filter((code) => catalog[code].status === 500)

/** Errors that an operation may answer with one status, by a name of theirs. */
export const errorSets = {
  BadRequest: ['BAD_REQUEST'],
  Unauthorized: ['INVALID_API_KEY'],
  QuotaUsedUp: ['USAGE_LIMIT_EXCEEDED'],
  Forbidden: ['DOMAIN_NOT_ALLOWED'],
  ForbiddenFeature: ['DOMAIN_NOT_ALLOWED', 'FEATURE_NOT_AVAILABLE'],
  ForbiddenImage: ['DOMAIN_NOT_ALLOWED', 'INVALID_SIGNATURE', 'SIGNATURE_EXPIRED'],
  NotFound: ['NOT_FOUND'],
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
} as const satisfies Record<string, readonly [ErrorCode, ...ErrorCode[]]>

/** Name of a set of errors. */
export type ErrorSet = keyof typeof errorSets

/** Codes of no set, beside those that no operation answers. */
type Forgotten = Exclude<ErrorCode, (typeof errorSets)[ErrorSet][number] | 'METHOD_NOT_ALLOWED' | 'CONFIGURATION'>
/** By this the compiler names what was forgotten. */
type Complete = [Forgotten] extends [never] ? object : Forgotten

/** Names of all sets of errors. */
export const errorSetNames = Object.keys(errorSets satisfies Complete) as ErrorSet[]

/** The HTTP status that all errors of a set have. */
export const statusOf = (set: ErrorSet): number => catalog[errorSets[set][0]].status

const repeatable: readonly number[] = [429, 503]
/** Statuses with which a request that was, or may have been, accepted can end. */
const afterAccept: readonly number[] = [404, 410, 422, 500, 503]

const details: JsonSchema = {
  type: 'object',
  description: 'With `VALIDATION_ERROR`: what is wrong, by field. All faults are told at once.',
  additionalProperties: { type: 'array', minItems: 1, items: { type: 'string' } },
}

/** The schema of the error envelope for a set of errors. */
export const errorSchema = (set: ErrorSet): JsonSchema => {
  const codes: readonly ErrorCode[] = errorSets[set]
  const status = statusOf(set)
  const fields: Fields = {
    code: word(codes, 'For machines.'),
    message: text('For people.'),
    status: { type: 'integer', const: status, description: 'The HTTP status.' },
    request_id: text('As in `X-Request-Id`.'),
    ...(repeatable.includes(status) && {
      retry_after: { type: 'integer', minimum: 0, description: 'As in `Retry-After`.' },
    }),
  }
  const optional: Fields = {
    ...(codes.includes('VALIDATION_ERROR') && { details }),
    ...(afterAccept.includes(status) && {
      screenshot_id: id('The screenshot that failed, or may have been accepted.'),
    }),
  }
  return {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: { ...fields, ...optional },
        required: [...Object.keys(fields), ...(codes.length === 1 && 'details' in optional ? ['details'] : [])],
        additionalProperties: false,
      },
    },
    required: ['error'],
    additionalProperties: false,
  }
}

/** An example of the error envelope for a set of errors. */
export const errorExample = (set: ErrorSet): JsonSchema => {
  const [code] = errorSets[set]
  const { status, publicMessage } = catalog[code]
  return {
    error: {
      code,
      message: publicMessage,
      status,
      request_id: '0b6a3a1e-6a0e-4b0a-9d43-0c0d3c2a9a10',
      ...(repeatable.includes(status) && { retry_after: 12 }),
      ...(code === 'VALIDATION_ERROR' && { details: { width: ['must be a whole number from 320 to 3840'] } }),
    },
  }
}

/** What a set of errors means, in one line. */
export const errorDescription = (set: ErrorSet): string =>
  errorSets[set].map((code) => `\`${code}\`: ${catalog[code].publicMessage}`).join(' ')

/** What every operation with a key may answer, beside its own errors. */
const everyError: readonly ErrorSet[] = ['BadRequest', 'Unauthorized', 'HeadTooLarge', 'Unavailable']

/** As `everyError`, of operations whose other refusals are the usual ones. */
export const usualErrors: readonly ErrorSet[] = [...everyError, 'TooManyRequests', 'InternalError']

/** Errors of operations on what the account always has. */
export const plainErrors: readonly ErrorSet[] = [...usualErrors, 'Forbidden', 'Invalid']

/** Errors of operations that read something of the account's that may not be there. */
export const readErrors: readonly ErrorSet[] = [...plainErrors, 'NotFound']

/** Errors of a POST to something of the account's that may not be there. */
export const repeatableErrors: readonly ErrorSet[] = [...usualErrors, 'Forbidden', 'NotFound', 'InvalidOrRepeated']

/** Errors of operations that accept captures. */
export const acceptErrors: readonly ErrorSet[] = [
  ...everyError,
  'QuotaUsedUp',
  'ForbiddenFeature',
  'NotFound',
  'TooManyRequestsOrWaiting',
]

import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Caller } from '#shared/db/check-request.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import { catalog, type ErrorCode } from '#shared/errors/catalog.ts'
import { errorsPath } from '#gateway/openapi/schema/errors.ts'
import { limitHeaders } from '#gateway/openapi/schema/answer-headers.ts'
import { toRequestError } from './errors.ts'

const exposed = [
  ...limitHeaders,
  'X-Screenshot-Id',
  'X-Cache',
  'X-Target-Status',
  'X-Request-Id',
  'X-Link-State',
  'Idempotent-Replayed',
  'Retry-After',
  'Location',
  'ETag',
  'Content-Disposition',
  'Content-Range',
]

/** CORS headers of every response, errors included: access depends on keys, not origins. */
export const corsHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposed.join(', '),
}

/** Headers of the response to a CORS preflight, which browsers send without a key. */
export const preflightHeaders = (methods: readonly string[]): Record<string, string> => ({
  allow: methods.join(', '),
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers':
    'Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Range, X-Request-Id, traceparent',
  'access-control-max-age': '86400',
})

/** The response to a request. Objects are sent as JSON, Buffers and streams unchanged. */
export type Answer = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, unknown>> | Buffer | Readable
  /** The authenticated caller, whose limits are sent as headers. */
  readonly caller?: Caller | undefined
  /** The capture that a view of a link had accepted, for the key that signed the link; for the account's activity. */
  readonly accepted?: { readonly accountId: string; readonly keyHash: Buffer; readonly captureId: string }
  /** Whether an identical request was accepted before; sent as `Idempotent-Replayed`. */
  readonly isReplay?: boolean
  /** Whether its caller let it wait for the end of a capture; it is measured apart then. */
  readonly waited?: boolean
  /** Code of the error in the body, for metrics and traces. */
  readonly code?: ErrorCode
  /** The error that ended the request, only for the log. */
  readonly thrown?: AppError
}

/** Default `Retry-After` of a 503. */
const unavailableSeconds = 5

/** An error in the contract's envelope, without internal messages. `screenshotId`: the capture that failed or may have been accepted. */
export const errorAnswer = (error: AppError, requestId: string, screenshotId?: string): Answer => {
  const { code, publicMessage: message, details } = error
  const { status } = catalog[code]
  const retryAfter = error.retryAfterSeconds ?? (status === 503 ? unavailableSeconds : undefined)
  return {
    status,
    code,
    headers: {
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      ...(screenshotId !== undefined && { 'x-screenshot-id': screenshotId }),
    },
    body: {
      error: {
        code,
        message,
        status,
        request_id: requestId,
        ...(details && { details }),
        ...(retryAfter !== undefined && { retry_after: retryAfter }),
        ...(screenshotId !== undefined && { screenshot_id: screenshotId }),
      },
    },
  }
}

/** Adds to the response with an error the address of the error's section in the reference. */
export const withDocUrl = (answer: Answer, publicUrl: () => string): Answer => {
  const { code, body } = answer
  if (code === undefined || body === undefined || !('error' in body)) return answer
  const error = body['error'] as Readonly<Record<string, unknown>>
  return { ...answer, body: { error: { ...error, doc_url: `${publicUrl()}/v1${errorsPath}#${code}` } } }
}

/** The response to a request that failed with `thrown`. */
export const thrownAnswer = (thrown: unknown, requestId: string): Answer => {
  const { error, facts } = toRequestError(thrown)
  const { caller, screenshotId, isReplay = false } = facts
  return { ...errorAnswer(error, requestId, screenshotId), caller, isReplay, thrown: error }
}

/** The limits of an account as headers, without those that its plan does not have. */
const callerHeaders = ({ rate, usage }: Caller): Record<string, string> => ({
  ...(rate && {
    'x-ratelimit-limit': String(rate.limit),
    'x-ratelimit-remaining': String(rate.remaining),
    'x-ratelimit-reset': String(rate.resetUnix),
  }),
  ...(usage.limit !== null && { 'x-usage-limit': String(usage.limit) }),
  ...(usage.remaining !== null && { 'x-usage-remaining': String(usage.remaining) }),
  'x-usage-reset': usage.resetAt,
  ...(usage.overagePrice !== null && {
    'x-usage-overage': String(usage.overage),
    'x-usage-overage-price': usage.overagePrice,
  }),
})

/** Whether an `If-None-Match` header matches the ETag. */
export const isUnchanged = (header: string | undefined, etag: string): boolean =>
  header !== undefined && header.split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()))

const encode = (
  body: Answer['body'],
): { bytes: string | Buffer | Readable | undefined; type: Record<string, string> } => {
  if (body === undefined || Buffer.isBuffer(body) || body instanceof Readable) return { bytes: body, type: {} }
  return { bytes: JSON.stringify(body), type: { 'content-type': 'application/json; charset=utf-8' } }
}

/** Sends a response with the common headers. `isClosing`: adds `Connection: close`. */
export const sendAnswer = (
  reply: FastifyReply,
  answer: Answer,
  { requestId, isClosing }: { readonly requestId: string; readonly isClosing: boolean },
): FastifyReply => {
  const { bytes, type } = encode(answer.body)
  return reply
    .code(answer.status)
    .headers({
      ...corsHeaders,
      'x-request-id': requestId,
      ...(answer.caller && callerHeaders(answer.caller)),
      ...(answer.isReplay && { 'idempotent-replayed': 'true' }),
      ...(isClosing && { connection: 'close' }),
      ...type,
      ...answer.headers,
    })
    .send(bytes)
}

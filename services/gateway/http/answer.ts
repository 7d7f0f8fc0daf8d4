import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Caller } from '#shared/db/check-request.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import { catalog, type ErrorCode } from '#shared/errors/catalog.ts'
import { limitHeaders } from '#gateway/openapi/answer-headers.ts'
import { toRequestError } from './errors.ts'

const exposed = [
  ...limitHeaders,
  'X-Screenshot-Id',
  'X-Cache',
  'X-Target-Status',
  'X-Request-Id',
  'Idempotent-Replayed',
  'Retry-After',
  'Location',
  'ETag',
  'Content-Disposition',
  'Content-Range',
]

/** Headers of every answer, errors included: keys, not origins, decide who may call. */
export const corsHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposed.join(', '),
}

/** Headers of the answer to a preflight, which browsers send without a key. */
export const preflightHeaders = (methods: readonly string[]): Record<string, string> => ({
  allow: methods.join(', '),
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers':
    'Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Range, X-Request-Id, traceparent',
  'access-control-max-age': '86400',
})

/** What a request is answered with. Objects are sent as JSON, Buffers and streams as they are. */
export type Answer = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, unknown>> | Buffer | Readable
  /** Who calls, where the database has said so: their limits are sent with the answer. */
  readonly caller?: Caller | undefined
  /** Whether the same request was accepted before: the answer says so. */
  readonly isReplay?: boolean
  /** Code of the error in the body, for metrics and traces. */
  readonly code?: ErrorCode
  /** The error that ended the request, for the log alone. */
  readonly thrown?: AppError
}

/** Seconds after which a client may try again where nothing better is known. */
const unavailableSeconds = 5

/** An error as the contract's envelope, which shows no internal message. `screenshotId` names the capture that failed or may have been accepted, where there is one. */
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

/** The answer to a request whose work has thrown. */
export const thrownAnswer = (thrown: unknown, requestId: string): Answer => {
  const { error, facts } = toRequestError(thrown)
  const { caller, screenshotId, isReplay = false } = facts
  return { ...errorAnswer(error, requestId, screenshotId), caller, isReplay, thrown: error }
}

/** The limits of an account as headers; those that its plan does not have are left out. */
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

/** Whether an `If-None-Match` names the content that a client would get, by its strong validator. */
export const isUnchanged = (header: string | undefined, etag: string): boolean =>
  header !== undefined && header.split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()))

const encode = (
  body: Answer['body'],
): { bytes: string | Buffer | Readable | undefined; type: Record<string, string> } => {
  if (body === undefined || Buffer.isBuffer(body) || body instanceof Readable) return { bytes: body, type: {} }
  return { bytes: JSON.stringify(body), type: { 'content-type': 'application/json; charset=utf-8' } }
}

/** Sends an answer with the headers that all answers carry. `isClosing`: the connection takes no further request. */
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

import { AppError } from '#shared/errors/app-error.ts'
import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import type { TargetRefusal } from '#shared/net/refusal.ts'

/** Chromium's own name of a network error in a message, such as `ERR_EMPTY_RESPONSE`, where it holds one. */
export const netErrorIn = (message: string | undefined): string | undefined => /net::(ERR_\w+)/.exec(message ?? '')?.[1]

/** An answer of 4xx or 5xx without a body; Chromium shows a page of its own that names the status. */
export const emptyErrorPage = 'ERR_HTTP_RESPONSE_CODE_FAILURE'

/** Host of an address; '' where it is none. */
export const hostOf = (url: string): string => URL.parse(url)?.hostname ?? ''

/** The browser itself gives up a document for another one, a download or a stop. */
export const givenUp = 'ERR_ABORTED'

/** A navigation that led to no page. */
export type FailedNavigation = {
  /** Chromium's name of the error, such as `ERR_EMPTY_RESPONSE`; undefined where it gave none. */
  readonly netError: string | undefined
  /** Host that was requested last; '' where none was. */
  readonly host: string
  /** Why egress refused that host, if it did. */
  readonly refusal: TargetRefusal | undefined
}

/** Chromium's errors for a response that is no page. */
const noPage = new Set([
  'ERR_ABORTED',
  'ERR_BLOCKED_BY_RESPONSE',
  'ERR_DISALLOWED_URL_SCHEME',
  'ERR_FILE_NOT_FOUND',
  'ERR_INVALID_REDIRECT',
  'ERR_INVALID_URL',
  'ERR_UNKNOWN_URL_SCHEME',
  'ERR_UNSAFE_PORT',
  'ERR_UNSAFE_REDIRECT',
])

const byRefusal: Record<TargetRefusal, CaptureErrorCode> = {
  blocked: 'BLOCKED',
  dns_failed: 'DNS_FAILED',
  connection_failed: 'CONNECTION_FAILED',
  bad_request: 'INVALID_URL',
}

const codeOf = ({ netError, refusal }: FailedNavigation): CaptureErrorCode => {
  if (refusal) return byRefusal[refusal]
  if (netError === undefined) return 'RENDER_ERROR'
  if (noPage.has(netError)) return 'INVALID_URL'
  if (netError === 'ERR_NAME_NOT_RESOLVED') return 'DNS_FAILED'
  return 'CONNECTION_FAILED'
}

const sentenceFor = (code: CaptureErrorCode, { host, netError, refusal }: FailedNavigation): string | undefined => {
  const reason = refusal || netError === undefined ? '' : ` (${netError})`
  if (code === 'DNS_FAILED') return `The host name ${host} could not be resolved.`
  if (code === 'CONNECTION_FAILED') return `The connection to ${host} failed${reason}.`
  if (code === 'INVALID_URL')
    return `The address could not be loaded as a page: it has no content, is a download or has an unsupported scheme${reason}.`
  return undefined
}

/** The error of a navigation that led to no page, as the record shows it. Total. */
export const classify = (failed: FailedNavigation): AppError => {
  const code = codeOf(failed)
  const publicMessage = sentenceFor(code, failed)
  return new AppError(code, {
    message: `${code} ${failed.netError} ${failed.refusal}`,
    ...(publicMessage && { publicMessage }),
  })
}

import { AppError } from '#shared/errors/app-error.ts'
import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import type { TargetRefusal } from '#shared/net/refusal.ts'

/** Chromium's name of the network error in a message, such as `ERR_EMPTY_RESPONSE`; undefined if there is none. */
export const netErrorIn = (message: string | undefined): string | undefined => /net::(ERR_\w+)/.exec(message ?? '')?.[1]

/** A 4xx or 5xx response without a body; Chromium shows its own page with the status. */
export const emptyErrorPage = 'ERR_HTTP_RESPONSE_CODE_FAILURE'

/** Host of an address; '' for an invalid address. */
export const parseHost = (url: string): string => URL.parse(url)?.hostname ?? ''

/** The browser aborted a navigation, because of another one, a download or a stop. */
export const abortedError = 'ERR_ABORTED'

/** A navigation that did not lead to a page. */
export type FailedNavigation = {
  /** Chromium's name of the error, such as `ERR_EMPTY_RESPONSE`; undefined if it gave none. */
  readonly netError: string | undefined
  /** The last requested host; '' if there was none. */
  readonly host: string
  /** Why egress refused that host, if it did. */
  readonly refusal: TargetRefusal | undefined
  /** Whether it led to a PDF. */
  readonly isPdf?: boolean
}

/** Chromium's errors for an address or response that is not a page. */
const notAPage = new Set([
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
  denied_by_account: 'BLOCKED',
  denied_by_installation: 'BLOCKED',
  dns_failed: 'DNS_FAILED',
  connection_failed: 'CONNECTION_FAILED',
  bad_request: 'INVALID_URL',
}

const toErrorCode = ({ netError, refusal }: FailedNavigation): CaptureErrorCode => {
  if (refusal) return byRefusal[refusal]
  if (netError === undefined) return 'RENDER_ERROR'
  if (notAPage.has(netError)) return 'INVALID_URL'
  if (netError === 'ERR_NAME_NOT_RESOLVED') return 'DNS_FAILED'
  return 'CONNECTION_FAILED'
}

const messageFor = (
  code: CaptureErrorCode,
  { host, netError, refusal, isPdf }: FailedNavigation,
): string | undefined => {
  if (refusal === 'denied_by_account') return `The targets of the account do not allow connections to ${host}.`
  if (refusal === 'denied_by_installation') {
    return `The operator of this service does not allow connections to ${host} (SHUTTERFLEET_DENY_TARGETS, SHUTTERFLEET_ONLY_TARGETS).`
  }
  const reason = refusal || netError === undefined ? '' : ` (${netError})`
  if (code === 'DNS_FAILED') return `The host name ${host} could not be resolved.`
  if (code === 'CONNECTION_FAILED') return `The connection to ${host} failed${reason}.`
  if (isPdf) return 'The address leads to a PDF, which cannot be captured: only pages, images and texts can.'
  if (code === 'INVALID_URL')
    return `The address could not be loaded as a page: it has no content, is a download or has an unsupported scheme${reason}.`
  return undefined
}

/** The error of a failed navigation, for the record. Total. */
export const classify = (failed: FailedNavigation): AppError => {
  const code = toErrorCode(failed)
  const publicMessage = messageFor(code, failed)
  return new AppError(code, {
    message: `${code} ${failed.netError} ${failed.refusal}`,
    ...(publicMessage && { publicMessage }),
  })
}

/**
 * Why an attempt failed: an answer that is not 2xx, or a redirect, which is not followed; an address that may not be
 * reached; a name without address; no connection, or one that broke; a certificate that is not trusted; too slow; an
 * answer that is not HTTP.
 */
export const failures = [
  'status',
  'redirect',
  'blocked',
  'dns_failed',
  'connection_failed',
  'tls_failed',
  'timeout',
  'bad_answer',
] as const

/** One reason of a failed attempt, as the log of deliveries names it. */
export type Failure = (typeof failures)[number]

/** What came of an attempt; `not_tried` where our own filter could not be reached, which says nothing of the receiver. */
export type Outcome = { readonly status: number | null; readonly failure: Failure | null } | 'not_tried'

/** Thrown on the way to a receiver: why there is no connection. */
export class NoConnection extends Error {
  readonly reason: Failure | 'not_tried'

  constructor(reason: Failure | 'not_tried', cause?: unknown) {
    super(reason, { cause })
    this.name = 'NoConnection'
    this.reason = reason
  }
}

/**
 * Why an attempt failed: an answer that is not 2xx, or a redirect, which is not followed; an address that may not be
 * reached; a name without address; no connection, or one that broke; a certificate that is not trusted; too slow; an
 * answer that is not HTTP; or it waited so long that it was given up without one.
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
  'expired',
] as const

/** One reason of a failed attempt, as the log of deliveries names it. */
export type Failure = (typeof failures)[number]

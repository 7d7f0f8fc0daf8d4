/**
 * Why an attempt failed: a status that is not 2xx, or a redirect, which is not followed; a forbidden address; a name
 * that does not resolve; no connection, or a broken one; an untrusted certificate; a time-out; a response that is not
 * HTTP; or the delivery waited so long that it was given up without an attempt. Of an upload also: credentials that may not
 * write, a bucket that does not exist, or an image that is no longer stored.
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
  'access_denied',
  'no_such_bucket',
  'image_missing',
] as const

/** Reason of a failed attempt, as in the log of deliveries. */
export type Failure = (typeof failures)[number]

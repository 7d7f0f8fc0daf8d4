const exposed = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Usage-Limit',
  'X-Usage-Remaining',
  'X-Usage-Reset',
  'X-Usage-Overage',
  'X-Usage-Overage-Price',
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

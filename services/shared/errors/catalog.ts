/** Which party caused an error: whoever sent the request, the captured page, or this service. Objectives count only the last. */
export const blames = ['caller', 'target', 'service'] as const

/** See `blames`. */
export type Blame = (typeof blames)[number]

/** One row of the error catalogue. `status` is the HTTP status if the code reaches a client in a response. */
type ErrorEntry = {
  readonly status: number
  /** Unless the place that throws the error knows better. */
  readonly blame: Blame
  /** Exit code of a process that ends with this error, 1 to 125. */
  readonly exitCode: number
  readonly publicMessage: string
}

const request = (status: number, publicMessage: string) =>
  ({ status, blame: 'caller', exitCode: 2, publicMessage }) as const

const target = (exitCode: number, publicMessage: string) =>
  ({ status: 422, blame: 'target', exitCode, publicMessage }) as const

const ours = (exitCode: number, publicMessage: string) =>
  ({ status: 500, blame: 'service', exitCode, publicMessage }) as const

/** Every error code that a client, a record, a metric or an exit status can carry. Each has a section in docs/errors.md. */
export const catalog = {
  BAD_REQUEST: request(400, 'The request is malformed.'),
  INVALID_API_KEY: request(401, 'The API key is missing, invalid, expired or revoked.'),
  UNAUTHORIZED: request(401, 'The session has ended or the sign-in link is not valid; sign in with a new link.'),
  USAGE_LIMIT_EXCEEDED: request(402, 'The monthly quota is used up and the plan has no overage.'),
  DOMAIN_NOT_ALLOWED: request(403, 'The API key is not allowed for the requesting domain.'),
  FORBIDDEN: request(403, 'The key or session has no permission for this request.'),
  FEATURE_NOT_AVAILABLE: request(403, 'The feature is not part of the plan.'),
  INVALID_SIGNATURE: request(403, 'The signature of the link is not valid.'),
  SIGNATURE_EXPIRED: request(403, 'The link has expired.'),
  NOT_FOUND: request(404, 'The resource does not exist.'),
  NOT_READY: request(404, 'The image is not ready.'),
  METHOD_NOT_ALLOWED: request(405, 'The method is not allowed for this path.'),
  EXPIRED: request(410, 'The retention period of the image has passed.'),
  PAYLOAD_TOO_LARGE: request(413, 'The request is larger than the service accepts.'),
  URI_TOO_LONG: request(414, 'The request line and headers are too large; send the parameters as the body of a POST.'),
  VALIDATION_ERROR: request(422, 'One or more parameters are invalid.'),
  IDEMPOTENCY_MISMATCH: request(422, 'The Idempotency-Key was already used for a different request.'),
  RATE_LIMIT_EXCEEDED: request(429, 'Too many requests in this minute.'),
  QUEUE_FULL: request(429, 'Too many captures of this account are waiting.'),
  SERVER_ERROR: ours(1, 'Internal error.'),
  SERVICE_UNAVAILABLE: { ...ours(75, 'The service cannot take the request at the moment.'), status: 503 },
  CONFIGURATION: ours(78, 'The configuration is invalid.'),
  TIMEOUT: target(10, 'The page did not load in time.'),
  DNS_FAILED: target(11, 'The host name of the page could not be resolved.'),
  CONNECTION_FAILED: target(12, 'The connection to the page failed.'),
  BLOCKED: target(
    13,
    'The page is at an address that this service does not reach; the operator can allow it with --allow-target HOST:PORT.',
  ),
  INVALID_URL: target(14, 'The address could not be loaded as a page.'),
  RENDER_ERROR: ours(15, 'The browser could not render the page.'),
  JOB_FAILED: ours(16, 'The capture could not be run.'),
} as const satisfies Record<string, ErrorEntry>

/** A key of the catalogue. */
export type ErrorCode = keyof typeof catalog

/** The codes that a failed capture's record can carry, in the contract's order. */
export const captureErrorCodes = [
  'TIMEOUT',
  'DNS_FAILED',
  'CONNECTION_FAILED',
  'BLOCKED',
  'INVALID_URL',
  'RENDER_ERROR',
  'JOB_FAILED',
] as const satisfies readonly ErrorCode[]

/** An error code of a capture's record. */
export type CaptureErrorCode = (typeof captureErrorCodes)[number]

/** Whether `code` is one that a capture's record can carry. */
export const isCaptureErrorCode = (code: string): code is CaptureErrorCode =>
  (captureErrorCodes as readonly string[]).includes(code)

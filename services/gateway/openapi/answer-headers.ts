import type { JsonSchema } from './json-schema.ts'

type Header = { readonly description: string; readonly schema: JsonSchema; readonly always?: true }

const whole: JsonSchema = { type: 'integer', minimum: 0 }

/** All response headers of the document. */
export const answerHeaders = {
  'X-Request-Id': {
    description: "Names this request. The caller's own is kept where it has at most 64 token characters.",
    schema: { type: 'string', maxLength: 64 },
    always: true,
  },
  'Access-Control-Allow-Origin': {
    description: 'Keys, not origins, decide who may call.',
    schema: { type: 'string', const: '*' },
    always: true,
  },
  'X-RateLimit-Limit': { description: 'Requests per minute; absent where the plan has no limit.', schema: whole },
  'X-RateLimit-Remaining': { description: 'Requests left in this minute.', schema: whole },
  'X-RateLimit-Reset': { description: 'Unix time at which the next minute begins.', schema: whole },
  'X-Usage-Limit': { description: 'Monthly quota; absent where the plan has none.', schema: whole },
  'X-Usage-Remaining': { description: 'Screenshots left of the quota.', schema: whole },
  'X-Usage-Reset': {
    description: 'End of the period, ISO 8601.',
    schema: { type: 'string', format: 'date-time' },
  },
  'X-Usage-Overage': { description: 'Screenshots beyond the quota, where the plan charges them.', schema: whole },
  'X-Usage-Overage-Price': {
    description: 'Price of one of them, an exact decimal.',
    schema: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' },
  },
  'Retry-After': { description: 'Seconds after which to try again.', schema: whole },
  'WWW-Authenticate': {
    description: 'How to say who calls.',
    schema: { type: 'string', const: 'Bearer' },
    always: true,
  },
  'X-Screenshot-Id': {
    description: 'The screenshot that the request made, or may have made.',
    schema: { type: 'string', format: 'uuid' },
  },
  'X-Cache': {
    description: "`HIT` where an earlier capture's result is shown.",
    schema: { type: 'string', enum: ['HIT', 'MISS'] },
  },
  'Idempotent-Replayed': {
    description: 'The answer repeats that of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
  'X-Target-Status': { description: 'HTTP status of the page.', schema: whole },
  Location: { description: 'Where the state is found.', schema: { type: 'string', format: 'uri' }, always: true },
  ETag: {
    description: 'Strong validator of the content.',
    schema: { type: 'string', pattern: '^"[0-9a-f]{64}"$' },
    always: true,
  },
  'Content-Disposition': {
    description: 'Name of a file to save it as.',
    schema: { type: 'string', pattern: '^inline; filename="[0-9a-f-]{36}\\.[a-z]+"$' },
    always: true,
  },
  'Content-Range': {
    description: 'Which part this is, or how large the whole is.',
    schema: { type: 'string', pattern: '^bytes (\\d+-\\d+|\\*)/\\d+$' },
    always: true,
  },
  'Accept-Ranges': { description: 'Parts may be asked for.', schema: { type: 'string', const: 'bytes' } },
  'Cache-Control': { description: 'How long it may be kept.', schema: { type: 'string' }, always: true },
} as const satisfies Record<string, Header>

/** Name of a header. */
export type HeaderName = keyof typeof answerHeaders

const everywhere: readonly HeaderName[] = ['X-Request-Id', 'Access-Control-Allow-Origin']

/** Limits of the account, in every response to an authenticated caller. */
export const limitHeaders: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Usage-Limit',
  'X-Usage-Remaining',
  'X-Usage-Reset',
  'X-Usage-Overage',
  'X-Usage-Overage-Price',
]

const headerRef = (name: HeaderName) => [name, { $ref: `#/components/headers/${name}` }] as const

/** The headers of a response: the common ones, and `more`. */
export const headersOf = (more: readonly HeaderName[]): JsonSchema =>
  Object.fromEntries([...everywhere, ...more].map(headerRef))

/** The headers for `components` of the document. */
export const headerComponents = (): JsonSchema =>
  Object.fromEntries(
    Object.entries(answerHeaders as Record<string, Header>).map(([name, { description, schema, always }]) => [
      name,
      { description, ...(always && { required: true }), schema },
    ]),
  )

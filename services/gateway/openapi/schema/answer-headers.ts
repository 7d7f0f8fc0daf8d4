import type { JsonSchema } from '#shared/schema/fields.ts'

type Header = { readonly description: string; readonly schema: JsonSchema; readonly always?: true }

const whole: JsonSchema = { type: 'integer', minimum: 0 }

/** All response headers of the document. */
export const answerHeaders = {
  'X-Request-Id': {
    description: 'Id of the request. An id sent by the caller is kept if it consists of at most 64 token characters.',
    schema: { type: 'string', maxLength: 64 },
    always: true,
  },
  'Access-Control-Allow-Origin': {
    description: 'Access is controlled by API keys, not by origins.',
    schema: { type: 'string', const: '*' },
    always: true,
  },
  'X-RateLimit-Limit': { description: 'Requests per minute; absent if the plan has no limit.', schema: whole },
  'X-RateLimit-Remaining': { description: 'Requests left in the current minute.', schema: whole },
  'X-RateLimit-Reset': { description: 'Unix time at which the next minute starts.', schema: whole },
  'X-Usage-Limit': { description: 'Monthly quota of screenshots; absent if the plan has none.', schema: whole },
  'X-Usage-Remaining': { description: 'Screenshots left in the quota.', schema: whole },
  'X-Usage-Reset': {
    description: 'End of the current period, in ISO 8601.',
    schema: { type: 'string', format: 'date-time' },
  },
  'X-Usage-Overage': {
    description: 'Number of screenshots beyond the quota, if the plan charges for them.',
    schema: whole,
  },
  'X-Usage-Overage-Price': {
    description: 'Price per screenshot beyond the quota, as an exact decimal.',
    schema: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' },
  },
  'Retry-After': { description: 'Seconds to wait before the next request.', schema: whole },
  'WWW-Authenticate': {
    description: 'Required authentication scheme.',
    schema: { type: 'string', const: 'Bearer' },
    always: true,
  },
  'X-Screenshot-Id': {
    description: 'Id of the screenshot that the request created, or may have created.',
    schema: { type: 'string', format: 'uuid' },
  },
  'X-Cache': {
    description: '`HIT` if the result was reused from an earlier capture.',
    schema: { type: 'string', enum: ['HIT', 'MISS'] },
  },
  'X-Link-State': {
    description:
      'What a link returned: a `fresh` image, a `stale` one while it is captured anew, or the `placeholder` before the first one.',
    schema: { type: 'string', enum: ['fresh', 'stale', 'placeholder'] },
    always: true,
  },
  'Idempotent-Replayed': {
    description: 'The response repeats that of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
  'X-Target-Status': { description: 'HTTP status of the page.', schema: whole },
  Location: { description: 'URL of the status.', schema: { type: 'string', format: 'uri' }, always: true },
  ETag: {
    description: 'Strong validator of the content.',
    schema: { type: 'string', pattern: '^"[0-9a-f]{64}"$' },
    always: true,
  },
  'Content-Disposition': {
    description: 'Suggested file name.',
    schema: { type: 'string', pattern: '^(?:inline|attachment); filename="[ -~]+"(; filename\\*=UTF-8\'\'[^ ]+)?$' },
    always: true,
  },
  'Content-Range': {
    description: 'Range of the returned part and total size; with status 416 only the total size.',
    schema: { type: 'string', pattern: '^bytes (\\d+-\\d+|\\*)/\\d+$' },
    always: true,
  },
  'Accept-Ranges': { description: 'Byte ranges are supported.', schema: { type: 'string', const: 'bytes' } },
  'Cache-Control': {
    description: 'Whether and how long the response may be cached.',
    schema: { type: 'string' },
    always: true,
  },
} as const satisfies Record<string, Header>

/** Name of a header. */
export type HeaderName = keyof typeof answerHeaders

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

/** References to the headers of a response. */
export const headersOf = (names: readonly HeaderName[]): JsonSchema => Object.fromEntries(names.map(headerRef))

/** These headers, by default all, for `components` of a document. */
export const headerComponents = (names?: readonly HeaderName[]): JsonSchema =>
  Object.fromEntries(
    Object.entries(answerHeaders as Record<string, Header>)
      .filter(([name]) => names?.some((each) => each === name) ?? true)
      .map(([name, { description, schema, always }]) => [
        name,
        { description, ...(always && { required: true }), schema },
      ]),
  )

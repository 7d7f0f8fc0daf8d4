import type { Readable } from 'node:stream'
import { fileNames, fileTypes, renditionName } from '#shared/capture/files.ts'
import { pools } from '#shared/capture/lane.ts'
import { mediaTypes } from '#shared/capture/options.ts'
import type { Scope } from '#shared/policy/scopes.ts'
import type { ErrorCode } from '#shared/errors/catalog.ts'
import {
  keywordsOf,
  constant,
  exampleOf,
  type Fields,
  id,
  type JsonSchema,
  object,
  type ObjectSchema,
  type Schema,
  text,
  typed,
} from '#shared/schema/fields.ts'
import { exampleIds } from '#gateway/records/example-values.ts'
import { type HeaderName, limitHeaders } from './answer-headers.ts'
import { documented } from './document-schema.ts'

/** An OpenAPI parameter in path, query or header. */
export type Parameter = JsonSchema & { readonly name: string; readonly in: 'path' | 'query' | 'header' }

/** Schema of a body by media type. */
type Content<Body> = Readonly<Record<string, { readonly schema: Schema<Body>; readonly example?: unknown }>>

/** A response that is not an error, with the type of its body; undefined if it has none. */
export type AnswerDoc<Body = unknown> = {
  readonly description: string
  readonly headers: readonly HeaderName[]
  readonly content?: Content<Body>
  /** Component that the content refers to. */
  readonly component?: Schema
}

/** The request body of an operation, with its name among the document's components. */
export type RequestBody = {
  readonly name: string
  readonly schema: Schema
  readonly isOptional?: boolean | undefined
  readonly example: unknown
}

/** The contract of an operation: path, parameters, request body and all responses. */
export type Contract = {
  /** Used in metrics, logs and the document. */
  readonly name: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Without the version's prefix. */
  readonly path: string
  readonly tag:
    | 'Screenshots'
    | 'Batches'
    | 'Account'
    | 'Keys'
    | 'Links'
    | 'Members'
    | 'Webhooks'
    | 'Uploads'
    | 'Reference'
  readonly summary: string
  readonly description: string
  /** Required credentials: an API key, a key or a signed link, the signature of a link that captures, or none. */
  readonly access: 'key' | 'link' | 'signature' | 'open'
  /** The scopes of which a key needs one; none if access is open or by a signature. */
  readonly scopes: readonly Scope[]
  readonly parameters: readonly Parameter[]
  readonly body?: RequestBody
  readonly answers: Readonly<Record<number, AnswerDoc>>
  readonly errors: readonly ErrorCode[]
}

/** JSON content; its example is that of its schema. */
export const jsonContent = <Body>(schema: Schema<Body>, example: unknown = exampleOf(schema)): Content<Body> => ({
  'application/json': { schema, example },
})

/** A JSON response to an authenticated caller. */
export const jsonAnswer = <Body>(
  description: string,
  body: Schema<Body>,
  headers: readonly HeaderName[] = [],
): AnswerDoc<Body> => ({
  description,
  headers: [...headers, ...limitHeaders],
  content: jsonContent(body),
  component: body,
})

/** A response of JSON lines to an authenticated caller. Its example is one line. */
export const linesAnswer = (description: string, entry: Schema): AnswerDoc<Readable> => ({
  description: `${description} Each line is a JSON object, as in the list.`,
  headers: [...limitHeaders, 'Cache-Control', 'Content-Disposition'],
  content: {
    'application/x-ndjson': {
      schema: typed({ type: 'string' }),
      example: `${JSON.stringify(exampleOf(entry))}\n`,
    },
  },
})

/** The last event of a stream whose capture or batch was deleted. */
const deletedEvent = object({ id: id('Id of the deleted screenshot or batch.', exampleIds.screenshot) })

/** The last event of a stream whose key is no longer valid. */
const unauthorizedEvent = object({
  code: constant('INVALID_API_KEY', 'Error code, as in the error envelope.'),
  message: text('Human-readable message.'),
})

/** A response without a body. */
export const emptyAnswer = (
  description: string,
  headers: readonly HeaderName[] = limitHeaders,
): AnswerDoc<undefined> => ({
  description,
  headers,
})

const binary = typed({ type: 'string', format: 'binary' })

/** The content of an image response, in each of the formats. */
export const imageContent: Content<unknown> = Object.fromEntries(
  Object.values(mediaTypes).map((type) => [type, { schema: binary }]),
)

/** The content of a file's response: of an output, or of a rendition. */
export const fileContent: Content<unknown> = Object.fromEntries(fileTypes.map((type) => [type, { schema: binary }]))

/** Headers of every response with an image. */
export const imageHeaderNames: readonly HeaderName[] = [
  'X-Screenshot-Id',
  'X-Cache',
  'X-Target-Status',
  'ETag',
  'Content-Disposition',
  'Cache-Control',
]

const fileName: Parameter = {
  name: 'file',
  in: 'path',
  required: true,
  description: `Name of an output, or \`${renditionName(0)}\` and so on for the renditions in the order of the request.`,
  schema: { type: 'string', enum: fileNames },
  example: fileNames[0],
}

const poolName: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'Name of the pool.',
  schema: { type: 'string', enum: pools },
  example: pools[0],
}

/** The noun of a path's segment in the plural: `webhook` of `webhooks`. */
export const nounOf = (segment = ''): string => segment.replace(/ies$/, 'y').replace(/s$/, '')

/** The ids in a path, each described by the segment before it: `/webhooks/:id` is the id of the webhook. */
export const pathParameters = (path: string): Parameter[] =>
  path.split('/').flatMap((segment, index, segments) => {
    if (!segment.startsWith(':')) return []
    if (segment === ':file') return [fileName]
    const noun = nounOf(segments[index - 1])
    if (noun === 'pool') return [poolName]
    const schema = { type: 'string', format: 'uuid' }
    return [
      {
        name: segment.slice(1),
        in: 'path',
        required: true,
        description: `Id of the ${noun}.`,
        schema,
        example: exampleIds.screenshot,
      },
    ]
  })

/** The example of an optional parameter, which the reference page does not send unless it is chosen: it sends every plain one. */
export const unsentExample = ({ example, default: fallback, enum: values }: JsonSchema): JsonSchema => {
  const value = example ?? fallback ?? (values as readonly unknown[] | undefined)?.[0]
  return value === undefined ? {} : { examples: { default: { value, 'x-disabled': true } } }
}

const optionalIn =
  (location: 'query' | 'header') =>
  (name: string, description: string, schema: JsonSchema): Parameter => ({
    name,
    in: location,
    description,
    schema,
    ...unsentExample(schema),
  })

/** An optional parameter of a query. */
export const queryParameter = optionalIn('query')

/** An optional header of a request. */
export const headerParameter = optionalIn('header')

/** Visible ASCII characters, the form of an idempotency key. */
export const visibleAscii = /^[!-~]+$/
/** Schema of an idempotency key. */
export const keySchema = { minLength: 1, maxLength: 255, pattern: visibleAscii.source } as const

/** The `Idempotency-Key` header of every POST. */
export const idempotencyKey = headerParameter(
  'Idempotency-Key',
  'Makes retries safe: repeating the same request with the same key within 24 hours returns the result of the first request.',
  { type: 'string', ...keySchema },
)

const streamAnswer = (events: Fields, example: string): AnswerDoc<Readable> => ({
  description: 'The event stream.',
  headers: [...limitHeaders, 'Cache-Control'],
  content: {
    'text/event-stream': {
      schema: typed({
        type: ['string', 'object'],
        description: 'A string for the whole stream; an object for each event, for tools that parse the stream.',
        properties: {
          event: { type: 'string', enum: Object.keys(events) },
          id: { type: 'string', description: 'Event id, which a reconnecting client sends as `Last-Event-ID`.' },
          retry: { type: 'integer', description: 'Milliseconds to wait before reconnecting.' },
          data: {
            type: 'string',
            contentMediaType: 'application/json',
            contentSchema: documented({ anyOf: [...new Set(Object.values(events))] }),
          },
        },
        additionalProperties: false,
      }),
      example,
    },
  },
})

/** Parameters and responses of an operation that returns server-sent events. */
export const streamContract = (events: Fields, example: string, lastEventIdDescription: string) => ({
  parameters: [headerParameter('Last-Event-ID', lastEventIdDescription, { type: 'string' })],
  answers: {
    200: streamAnswer({ ...events, deleted: deletedEvent, unauthorized: unauthorizedEvent }, example),
    204: emptyAnswer('The client has already received the last event and should stop reconnecting.'),
  },
})

/** Responses of an operation that returns server-sent events without a last one: its stream goes on after `deleted`. */
export const openStreamContract = (events: Fields, example: string) => ({
  answers: { 200: streamAnswer({ ...events, deleted: deletedEvent, unauthorized: unauthorizedEvent }, example) },
})

/** Converts the schema of a query to OpenAPI parameters. */
export const queryParameters = ({ properties, required = [] }: ObjectSchema): Parameter[] =>
  Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = documented(property)
    const isRequired = required.includes(name) && schema['default'] === undefined
    const parameter = queryParameter(name, String(description), schema)
    return isRequired ? { ...parameter, required: true, example: keywordsOf(property)['example'] } : parameter
  })

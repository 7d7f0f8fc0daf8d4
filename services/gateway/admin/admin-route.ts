import type { Actor } from '#shared/db/audit.ts'
import type { Database } from '#shared/db/connection.ts'
import type { SettingInForce } from '#gateway/context/config.ts'
import type { Context, Gateway } from '#gateway/context/context.ts'
import type { ErrorCode } from '#shared/errors/catalog.ts'
import { named, type ObjectSchema, type Schema } from '#shared/schema/fields.ts'
import type { Answer } from '#gateway/http/answer.ts'
import { bodyBound } from '#gateway/http/body-bound.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { createQueryReader, readJson } from '#gateway/http/input.ts'
import { emptyAnswer, jsonContent, pathParameters, queryParameters } from '#gateway/openapi/schema/contract.ts'
import type { DescribedOperation } from '#gateway/openapi/schema/describe-operations.ts'
import { inEnvelope } from '#gateway/records/envelope.ts'
import { bodyReader } from './read-fields.ts'

/** Dependencies of accepting captures on behalf of an account. */
export type AcceptDependencies = Pick<
  Context,
  | 'objects'
  | 'sealingKeys'
  | 'records'
  | 'longestWaitSeconds'
  | 'now'
  | 'allowTargets'
  | 'targetLists'
  | 'accountTargets'
  | 'hasStealth'
  | 'publisher'
  | 'checkMaintenance'
  | 'windowCaptures'
>

/** Dependencies of the admin API. */
export type Admin = {
  readonly database: Database
  readonly keyPepper: string
  /** Whether operators may sign in to the console. */
  readonly consoleOperators: boolean
  readonly publicUrl: () => string
  readonly accepting: AcceptDependencies
  /** Health of this gateway, with the state of each store. */
  readonly health: Gateway['health']
  readonly natsVersion: Gateway['natsVersion']
  readonly storeKind: 'files' | 's3'
  readonly browserAgeDaysMax: number
  /** What the other services report over NATS. */
  readonly fleet: Gateway['fleet']
  readonly settings: readonly SettingInForce[]
}

/** Sections of the admin API's document. */
export type AdminTag = 'Accounts' | 'Keys' | 'Sign-in links' | 'Queue' | 'Service' | 'Installation'

/** One operation of the admin API: its contract and its handler. `path` is below `/admin/v1`. */
export type AdminRoute = DescribedOperation & {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly tag: AdminTag
  /** Its response has a key or link that identifies somebody; not served in the console. */
  readonly givesCredential?: true
  /** Largest body, in bytes. */
  readonly bodyBytesMax: number
  /** Serves a request of `actor`, for the audit log, whom the caller has authenticated. */
  readonly run: (admin: Admin, actor: Actor, exchange: Exchange) => Promise<Answer>
}

type AdminRequest<Q, B> = {
  readonly actor: Actor
  /** The `:id` of the path, decoded; empty if the path has none. */
  readonly id: string
  readonly query: Q
  readonly body: B
}

type Definition<Q, B, Data> = Pick<
  AdminRoute,
  'name' | 'method' | 'path' | 'tag' | 'summary' | 'description' | 'givesCredential'
> & {
  readonly query?: ObjectSchema<Q>
  /** Required if the operation has one; `name` among the document's components. */
  readonly body?: { readonly name: string; readonly schema: ObjectSchema<B>; readonly example: NoInfer<B> }
  /** Schema of the response's `data`, with the name of the body among the components; absent: the response has none. */
  readonly answer?: { readonly name: string; readonly description: string; readonly data: Schema<Data> }
  /** Errors in addition to the common ones. */
  readonly errors?: readonly ErrorCode[]
  /** Returns the `data` of the response; undefined for a response without a body. */
  readonly run: (admin: Admin, request: AdminRequest<Q, B>) => Promise<NoInfer<Data>>
}

const commonErrors = (path: string, readsBody: boolean, readsQuery: boolean): readonly ErrorCode[] => [
  'INVALID_API_KEY',
  'RATE_LIMIT_EXCEEDED',
  'SERVER_ERROR',
  'SERVICE_UNAVAILABLE',
  ...(path.includes(':') ? (['NOT_FOUND'] as const) : []),
  ...(readsBody ? (['BAD_REQUEST', 'PAYLOAD_TOO_LARGE'] as const) : []),
  ...(readsBody || readsQuery ? (['VALIDATION_ERROR'] as const) : []),
]

const answersOf = <Data>(answer: Definition<never, never, Data>['answer']): AdminRoute['answers'] => {
  if (!answer) return { 204: emptyAnswer('Done.', ['Cache-Control']) }
  const body = named(answer.name, inEnvelope(answer.data))
  const { description } = answer
  return { 200: { description, headers: ['Cache-Control'], content: jsonContent<unknown>(body), component: body } }
}

/** Creates an operation of the admin API, which reads query and body by their schemas. */
export const adminRoute = <Data = undefined, Q = {}, B = {}>(definition: Definition<Q, B, Data>): AdminRoute => {
  const { query, body, answer, errors = [], run, ...contract } = definition
  const readQuery = query && createQueryReader(query)
  const readBody = body && bodyReader(body.schema)
  return {
    ...contract,
    parameters: [...pathParameters(contract.path), ...(query ? queryParameters(query) : [])],
    ...(body && { body }),
    answers: answersOf(answer),
    errors: [...commonErrors(contract.path, body !== undefined, query !== undefined), ...errors],
    bodyBytesMax: bodyBound(body?.schema),
    run: async (admin, actor, exchange) => {
      const data = await run(admin, {
        actor,
        id: exchange.params['id'] ?? '',
        query: (readQuery ? readQuery(exchange.query, { allowTargets: [] }).values : {}) as Q,
        body: (readBody ? readBody(await readJson(exchange)) : {}) as B,
      })
      return data === undefined ? { status: 204 } : { status: 200, body: { data } }
    },
  }
}

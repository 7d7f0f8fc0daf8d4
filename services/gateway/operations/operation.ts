import type { Static, TObject, TProperties } from 'typebox'
import type { Caller } from '#shared/db/check-request.ts'
import type { ErrorCode } from '#shared/errors/catalog.ts'
import type { Context } from '#gateway/context.ts'
import type { Answer } from '#gateway/http/answer.ts'
import { withFacts } from '#gateway/http/errors.ts'
import { type Exchange, pathId } from '#gateway/http/exchange.ts'
import { answerIdempotently } from '#gateway/http/idempotency.ts'
import { authorize } from '#gateway/http/identification/identify.ts'
import { type CheckInput, createBodyReader, createQueryReader, nothing, readOptionalJson } from '#gateway/http/input.ts'
import {
  type AnswerDoc,
  bodySchema,
  type Contract,
  idempotencyKey,
  type Parameter,
  pathParameters,
  queryParameters,
} from '#gateway/openapi/contract.ts'
import { commonErrors } from '#gateway/openapi/errors.ts'

/** One operation of the interface: its contract, and what serves it. */
export type Operation = Contract & {
  /** Whether it accepts captures, which it does not while maintenance is on. Then it judges the key itself, with the capture. */
  readonly accepts?: true
  /** Serves a request. Throws an AppError, or a RequestError with the caller, where it refuses. */
  readonly run: (context: Context, exchange: Exchange) => Promise<Answer>
}

/** What is written down of an operation; its parameters and errors follow from its path, its method and these. */
type Described = Omit<Contract, 'parameters' | 'errors'> & {
  /** Parameters of query and headers. */
  readonly parameters?: readonly Parameter[]
  /** Errors beside the common ones. */
  readonly errors?: readonly ErrorCode[]
}

/** An operation that reads its request itself: it accepts captures, or needs no key. */
export const operation = ({
  parameters = [],
  errors = [],
  ...of
}: Described & Omit<Operation, 'parameters' | 'errors'>): Operation => ({
  ...of,
  parameters: [...pathParameters(of.path), ...parameters, ...(of.method === 'POST' ? [idempotencyKey] : [])],
  errors: [...commonErrors(of), ...errors],
})

/** A request of a caller who is known, read by the operation's schemas. */
export type CallerRequest<Q extends TProperties, B extends TProperties> = Pick<Exchange, 'headers' | 'watchClient'> & {
  readonly caller: Caller
  /** The ids in the path, in lower case; ones that nothing has where they are malformed. */
  readonly id: string
  readonly deliveryId: string
  readonly query: Static<TObject<Q>>
  /** Parameters of the query as they were sent. */
  readonly given: Readonly<Record<string, string>>
  readonly body: Static<TObject<B>>
}

/** What `run` answers: a body of the contract, none where it names none. */
type Reply<Body> = Omit<Answer, 'body'> & (undefined extends Body ? { readonly body?: Body } : { readonly body: Body })

type CallerOperation<Q extends TProperties, B extends TProperties, Body> = Omit<
  Described,
  'body' | 'access' | 'answers'
> & {
  readonly answers: Readonly<Record<number, AnswerDoc<Body>>>
  readonly query?: TObject<Q>
  readonly checkQuery?: CheckInput<Static<TObject<Q>>>
  readonly body?: Omit<NonNullable<Contract['body']>, 'schema'> & {
    readonly schema: TObject<B>
    readonly check?: CheckInput<Static<TObject<B>>>
  }
  readonly run: (context: Context, request: CallerRequest<Q, B>) => Promise<Reply<NoInfer<Body>>>
}

/**
 * An operation for callers with a key, in the order of the contract: identify who calls and count the request, answer what
 * was answered before, read query and body, run. A field that has no default and is not optional is required. What `run`
 * answers is what the contract names.
 */
export const forCaller = <Body, const Q extends TProperties = {}, const B extends TProperties = {}>(
  of: CallerOperation<Q, B, Body>,
): Operation => {
  const { query = nothing as unknown as TObject<Q>, checkQuery, body, run, parameters = [], ...contract } = of
  const readQuery = createQueryReader(query, checkQuery)
  const readBody = body && createBodyReader(body.schema, body.check)

  const read = async (context: Context, exchange: Exchange, caller: Caller): Promise<CallerRequest<Q, B>> => {
    const { values, given } = readQuery(exchange.query, context)
    const sent = readBody && (await readOptionalJson(exchange, body.isOptional === true))
    return {
      caller,
      id: pathId(exchange),
      deliveryId: pathId(exchange, 'delivery_id'),
      query: values,
      given,
      body: (readBody ? readBody(sent, context) : {}) as Static<TObject<B>>,
      headers: exchange.headers,
      watchClient: exchange.watchClient,
    }
  }

  return operation({
    ...contract,
    access: 'key',
    parameters: [...queryParameters(query), ...parameters],
    ...(body && {
      body: { name: body.name, isOptional: body.isOptional, schema: bodySchema(body.schema), example: body.example },
    }),
    run: async (context, exchange) => {
      const caller = await authorize(context, exchange)
      return await withFacts({ caller }, async () => {
        const serve = async () => (await run(context, await read(context, exchange, caller))) as Answer
        const isRepeatable = contract.method === 'POST'
        const answer = isRepeatable
          ? await answerIdempotently(context.idempotencyStore, { operation: contract, exchange, caller }, serve)
          : await serve()
        return { caller, ...answer }
      })
    },
  })
}

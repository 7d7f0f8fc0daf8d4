import type { Caller } from '#shared/db/check-request.ts'
import type { ErrorCode } from '#shared/errors/catalog.ts'
import { object, type ObjectSchema } from '#shared/schema/fields.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Answer } from '#gateway/http/answer.ts'
import { withFacts } from '#gateway/http/errors.ts'
import { bodyBound, bodyBytesMax } from '#gateway/http/body-bound.ts'
import { type Exchange, ofAccount, pathId } from '#gateway/http/exchange.ts'
import { answerIdempotently } from '#gateway/http/idempotency.ts'
import { authorize, identify } from '#gateway/http/identification/identify.ts'
import {
  type CheckInput,
  createBodyReader,
  createQueryReader,
  type InputRules,
  readOptionalJson,
} from '#gateway/http/input.ts'
import {
  type AnswerDoc,
  type Contract,
  idempotencyKey,
  type Parameter,
  pathParameters,
  queryParameters,
} from '#gateway/openapi/schema/contract.ts'
import { commonErrors } from '#gateway/openapi/schema/errors.ts'

/** One operation of the HTTP interface: its contract and its handler. */
export type Operation = Contract & {
  /** It accepts captures, except during maintenance, and checks the key itself, in the accept statement. */
  readonly accepts?: true
  /** Largest body, in bytes; 64 KiB by default. */
  readonly bodyBytesMax?: number
  /** Serves a request. Throws an AppError, or a RequestError with the caller, to refuse it. */
  readonly run: (context: Context, exchange: Exchange) => Promise<Answer>
}

/** What serving an operation needs of it; the console has operations without a contract. */
export type Served = Pick<Operation, 'name' | 'method' | 'path' | 'accepts' | 'bodyBytesMax' | 'run'> & {
  /** `session`: served to sessions of the console alone; `operator`: to those of operators alone. */
  readonly access: Contract['access'] | 'session' | 'operator'
  /** Absent: no key is accepted. */
  readonly scopes?: Contract['scopes']
  /** A viewer may request it although it changes state. */
  readonly forViewers?: true
}

/** The definition of an operation; path parameters, `Idempotency-Key` and common errors are added to it. */
type Described = Omit<Contract, 'parameters' | 'errors'> & {
  /** Parameters of query and headers. */
  readonly parameters?: readonly Parameter[]
  /** Errors in addition to the common ones. */
  readonly errors?: readonly ErrorCode[]
}

/** Creates an operation that reads its request itself: it accepts captures, or needs no key. */
export const operation = ({
  parameters = [],
  errors = [],
  ...contract
}: Described & Omit<Operation, 'parameters' | 'errors'>): Operation => ({
  ...contract,
  bodyBytesMax: contract.accepts ? bodyBytesMax : bodyBound(contract.body?.schema),
  parameters: [
    ...pathParameters(contract.path),
    ...parameters,
    ...(contract.method === 'POST' ? [idempotencyKey] : []),
  ],
  errors: [...commonErrors(contract), ...errors],
})

/** An authenticated request, validated by the operation's schemas. */
export type CallerRequest<Q, B> = Pick<Exchange, 'headers' | 'session' | 'scopes' | 'watchClient'> & {
  readonly caller: Caller
  /** The ids in the path, in lower case; a malformed one is replaced by an id that no record has. */
  readonly id: string
  readonly deliveryId: string
  /** The file's name in the path, '' without one. */
  readonly file: string
  readonly query: Q
  /** Query parameters as sent, decoded. */
  readonly rawQuery: Readonly<Record<string, string>>
  readonly body: B
}

/** The response of `run`; its body has the type that the contract declares. */
type Reply<Body> = Omit<Answer, 'body'> & (undefined extends Body ? { readonly body?: Body } : { readonly body: Body })

type CallerOperation<Q, B, Body> = Omit<Described, 'body' | 'access' | 'answers'> & {
  readonly answers: Readonly<Record<number, AnswerDoc<Body>>>
  readonly query?: ObjectSchema<Q>
  readonly checkQuery?: CheckInput<Q>
  /** Another key of the account may not have the response repeated, because it could not have made the request. */
  readonly isPersonal?: true
  readonly body?: Omit<NonNullable<Contract['body']>, 'schema'> & {
    readonly schema: ObjectSchema<B>
    readonly check?: CheckInput<B>
  }
  readonly run: (context: Context, request: CallerRequest<Q, B>) => Promise<Reply<NoInfer<Body>>>
}

/** How long what `authorize` found stands while a body arrives: a move of the account waits ten seconds for requests that passed it. */
const freshMs = 1000

/**
 * Creates an operation that requires a key. Steps in the contract's order: check the key and count the request, return the
 * stored response of a repeated request, read query and body, check and count again if that took long, run. A field that has
 * no default and is not optional is required.
 */
export const forCaller = <Body, Q = {}, B = {}>(definition: CallerOperation<Q, B, Body>): Operation => {
  const {
    query = object({}) as ObjectSchema<Q>,
    checkQuery,
    body,
    run,
    parameters = [],
    isPersonal,
    ...contract
  } = definition
  const readQuery = createQueryReader(query, checkQuery)
  const readBody = body && createBodyReader(body.schema, body.check)

  const read = async (rules: InputRules, exchange: Exchange, caller: Caller): Promise<CallerRequest<Q, B>> => {
    const { values, rawQuery } = readQuery(exchange.query, rules)
    const sent = readBody && (await readOptionalJson(exchange, body.isOptional === true))
    return {
      caller,
      id: pathId(exchange),
      deliveryId: pathId(exchange, 'delivery_id'),
      file: exchange.params['file'] ?? '',
      query: values,
      rawQuery,
      body: (readBody ? readBody(sent, rules) : {}) as B,
      headers: exchange.headers,
      session: exchange.session,
      scopes: exchange.scopes,
      watchClient: exchange.watchClient,
    }
  }

  return operation({
    ...contract,
    access: 'key',
    parameters: [...queryParameters(query), ...parameters],
    ...(body && { body }),
    run: async (context, sent) => {
      const caller = await authorize(context, sent)
      const exchange = ofAccount(sent, caller.accountId)
      const authorizedAt = performance.now()
      return await withFacts({ caller }, async () => {
        const serve = async () => {
          const input = await read(context, exchange, caller)
          if (performance.now() - authorizedAt > freshMs) await authorize(context, exchange)
          return (await run(context, input)) as Answer
        }
        const isRepeatable = contract.method === 'POST'
        const issuer = isPersonal && identify(exchange, context.hashKey).keyHash
        const answer = isRepeatable
          ? await answerIdempotently(context.idempotencyStore, { operation: contract, exchange, caller, issuer }, serve)
          : await serve()
        return { caller, ...answer }
      })
    },
  })
}

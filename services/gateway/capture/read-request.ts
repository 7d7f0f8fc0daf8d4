import { collectErrors } from '#shared/capture/validation-errors.ts'
import { fromQuery } from '#shared/capture/from-query.ts'
import { type CaptureRules, parseCapture, type ParsedCapture } from '#gateway/parameters/parse-capture.ts'
import type { Caller } from '#shared/db/check-request.ts'
import type { Idempotency } from '#gateway/db/accept-capture.ts'
import type { RequestIdentity } from '#gateway/db/refusal-cache.ts'
import { AppError, type FieldErrors, toAppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context/context.ts'
import { gatherPlainQuery, parseJson } from '#gateway/http/input.ts'
import { refusalError, RequestError, validationError } from '#gateway/http/errors.ts'
import { type Exchange, ofAccount } from '#gateway/http/exchange.ts'
import { idempotencyErrors, idempotencyOf } from '#gateway/http/idempotency.ts'
import { authorize, identify, type KeyCheck } from '#gateway/http/identification/identify.ts'

type Parsing<Parsed> = Parsed | { readonly ok: false; readonly errors: FieldErrors }

/** Validates the input; its errors include those already `found`. */
type Parse<Parsed extends { ok: true }> = (
  input: unknown,
  found: FieldErrors,
) => Parsing<Parsed> | Promise<Parsing<Parsed>>

/** How the parameters of a request are read. */
export type ReadOptions<Parsed extends { ok: true }> = {
  /** Part of the request hash: the same idempotency key with another operation is a mismatch. */
  readonly operation: string
  readonly from: 'query' | 'body'
  /** Checks the key before reading the input, however small it is. */
  readonly keyFirst?: true
  readonly parse: Parse<Parsed>
}

/**
 * A valid request. Its key is already checked if `caller` is set; otherwise the accept statement checks it. `isCounted`: the minute count
 * of its account has it, or is not to have it.
 */
export type ValidRequest<Parsed> = RequestIdentity & {
  readonly parsed: Parsed
  readonly idempotency: Idempotency | undefined
  readonly caller: Caller | undefined
  readonly isCounted: boolean
}

/** A valid request for one capture. */
export type CaptureRequest = ValidRequest<ParsedCapture>

type Rules = Pick<Context, 'allowTargets' | 'targetLists' | 'hasStealth'>

/** The rules of this installation for parameters. */
export const captureRules = ({ allowTargets: allow, targetLists: lists, hasStealth }: Rules): CaptureRules => ({
  allow,
  lists,
  hasStealth,
})

/**
 * Adds an error for every query parameter of an operation that takes its parameters in the body, instead of ignoring them
 * silently.
 */
const withQueryErrors = <Parsed extends { ok: true }>(query: string, parsing: Parsing<Parsed>): Parsing<Parsed> => {
  const inQuery = Object.keys(gatherPlainQuery(query, []).errors.all() ?? {})
  if (inQuery.length === 0) return parsing
  const errors = collectErrors(parsing.ok ? {} : parsing.errors)
  for (const name of inQuery)
    errors.report(name, 'is not allowed in the query: a POST takes its parameters from the body')
  return { ok: false, errors: errors.all() ?? {} }
}

const parsedOf = <Parsed extends { ok: true }>(parsing: Parsing<Parsed>): Parsed => {
  if (!parsing.ok) throw validationError(parsing.errors)
  return parsing
}

/** Reads and validates the parameters of a request. `body`: as sent; absent for parameters in the query. */
const readParameters = async <Parsed extends { ok: true }>(
  exchange: Exchange,
  { from, parse }: ReadOptions<Parsed>,
): Promise<{ readonly parsed: Parsed; readonly body?: Buffer }> => {
  if (exchange.headIsTooLarge) throw new AppError('URI_TOO_LONG')
  if (from === 'query') {
    const read = fromQuery(exchange.query)
    return { parsed: parsedOf(read.ok ? await parse(read.input, read.errors) : read) }
  }
  const body = await exchange.readBody()
  const parsing = await parse(parseJson(body, exchange.contentType), idempotencyErrors(exchange))
  return { parsed: parsedOf(exchange.query === '' ? parsing : withQueryErrors(exchange.query, parsing)), body }
}

/**
 * Reads a request that accepts captures. Throws errors in the contract's order: key, domain and minute limit before the
 * parameters. Small inputs are read before the key is checked, which saves a round trip; larger ones only after it, so that
 * requests without a valid key stay cheap.
 */
export const readRequest = async <Parsed extends { ok: true }>(
  deps: KeyCheck,
  exchange: Exchange,
  options: ReadOptions<Parsed>,
): Promise<ValidRequest<Parsed>> => {
  const identity = identify(exchange, deps.hashKey)
  const refusal = deps.refusals.find(identity)
  if (refusal) throw refusalError(refusal, identity.originHost)
  const readsFirst = exchange.inputIsSmall && !options.keyFirst && exchange.session === undefined
  const caller = readsFirst ? undefined : await authorize(deps, exchange)
  const sent = caller ? ofAccount(exchange, caller.accountId) : exchange
  const { parsed, body } = await readParameters(sent, options).catch(async (thrown: unknown) => {
    throw new RequestError(toAppError(thrown), { caller: caller ?? (await authorize(deps, exchange)) })
  })
  const idempotency = body && idempotencyOf(exchange, options.operation, body)
  // Requests of a session are counted by the accept statement alone: those that capture nothing have a limit of their own.
  const isCounted = caller !== undefined && exchange.session === undefined
  return { ...identity, parsed, idempotency, caller, isCounted }
}

/** Reads a request for one capture, by `readRequest`. */
export const readCaptureRequest = (
  deps: KeyCheck & Rules,
  exchange: Exchange,
  options: Omit<ReadOptions<ParsedCapture>, 'parse'>,
): Promise<CaptureRequest> => {
  const rules = captureRules(deps)
  return readRequest(deps, exchange, { ...options, parse: (input, found) => parseCapture(input, rules, found) })
}

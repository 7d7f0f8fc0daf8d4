import { collectFaults } from '#shared/capture/faults.ts'
import { fromQuery } from '#shared/capture/from-query.ts'
import { type CaptureRules, parseCapture, type ParsedCapture } from '#gateway/parameters/parse-capture.ts'
import type { Caller } from '#shared/db/check-request.ts'
import type { Idempotency } from '#gateway/db/accept-capture.ts'
import { AppError, type FieldFaults, toAppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context.ts'
import { gatherPlainQuery, parseJson } from '#gateway/http/input.ts'
import { refusalError, RequestError, validationError } from '#gateway/http/errors.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { idempotencyFaults, idempotencyOf } from '#gateway/http/idempotency.ts'
import { authorize, identify } from '#gateway/http/identification/identify.ts'

type Parsing<Parsed> = Parsed | { readonly ok: false; readonly faults: FieldFaults }

/** Parses what was sent, with the faults that are known already. */
type Parse<Parsed extends { ok: true }> = (
  input: unknown,
  found: FieldFaults,
) => Parsing<Parsed> | Promise<Parsing<Parsed>>

/** How the parameters of a request are read. */
export type Intake<Parsed extends { ok: true }> = {
  /** Requests with one idempotency key are the same only where they ask for the same operation. */
  readonly operation: string
  readonly from: 'query' | 'body'
  /** Whether nothing is read before the key is known, however small it is. */
  readonly keyFirst?: true
  readonly parse: Parse<Parsed>
}

/** A valid request by a caller whose key the database will judge, or has judged where `caller` is known. */
export type ReadRequest<Parsed> = {
  readonly parsed: Parsed
  readonly keyHash: Buffer
  readonly originHost: string | null
  readonly idempotency: Idempotency | undefined
  readonly caller: Caller | undefined
}

/** A valid request for one capture. */
export type CaptureRequest = ReadRequest<ParsedCapture>

/** What requests of this installation are judged by. */
export const captureRules = ({
  allowTargets,
  hasStealth,
}: Pick<Context, 'allowTargets' | 'hasStealth'>): CaptureRules => ({ allow: allowTargets, hasStealth })

/**
 * Adds a fault for every parameter in the query of an operation that takes its parameters in the body. A caller who puts one
 * there would not see that it has no effect.
 */
const withQueryFaults = <Parsed extends { ok: true }>(query: string, parsing: Parsing<Parsed>): Parsing<Parsed> => {
  const inQuery = Object.keys(gatherPlainQuery(query, []).faults.all() ?? {})
  if (inQuery.length === 0) return parsing
  const faults = collectFaults(parsing.ok ? {} : parsing.faults)
  for (const name of inQuery)
    faults.report(name, 'must not stand in the query: parameters of a POST belong in the body')
  return { ok: false, faults: faults.all() ?? {} }
}

const parsedOf = <Parsed extends { ok: true }>(parsing: Parsing<Parsed>): Parsed => {
  if (!parsing.ok) throw validationError(parsing.faults)
  return parsing
}

/** Reads and judges the parameters of a request. `body`: as it was sent, where there is one. */
const readParameters = async <Parsed extends { ok: true }>(
  exchange: Exchange,
  { from, parse }: Intake<Parsed>,
): Promise<{ readonly parsed: Parsed; readonly body?: Buffer }> => {
  if (exchange.headIsTooLarge) throw new AppError('URI_TOO_LONG')
  if (from === 'query') {
    const read = fromQuery(exchange.query)
    return { parsed: parsedOf(read.ok ? await parse(read.input, read.faults) : read) }
  }
  const body = await exchange.readBody()
  const parsing = await parse(parseJson(body, exchange.contentType), idempotencyFaults(exchange))
  return { parsed: parsedOf(exchange.query === '' ? parsing : withQueryFaults(exchange.query, parsing)), body }
}

/**
 * Reads a request that accepts captures. Throws what is wrong with it in the contract's order: key, domain and minute
 * limit before the parameters. What is small is read before the key is known, which saves a round trip; whoever has no key
 * does not get to make us read and parse more.
 */
export const readRequest = async <Parsed extends { ok: true }>(
  context: Context,
  exchange: Exchange,
  intake: Intake<Parsed>,
): Promise<ReadRequest<Parsed>> => {
  const { key, originHost } = identify(exchange.headers)
  const keyHash = context.captures.hashKey(key)
  const refusal = context.captures.refused({ keyHash, originHost })
  if (refusal) throw refusalError(refusal)
  const readsFirst = exchange.inputIsSmall && !intake.keyFirst
  const caller = readsFirst ? undefined : await authorize(context, exchange)
  const { parsed, body } = await readParameters(exchange, intake).catch(async (thrown: unknown) => {
    throw new RequestError(toAppError(thrown), { caller: caller ?? (await authorize(context, exchange)) })
  })
  const idempotency = body && idempotencyOf(exchange, intake.operation, body)
  return { parsed, keyHash, originHost, idempotency, caller }
}

/** Reads a request for one capture, by `readRequest`. */
export const readCaptureRequest = (
  context: Context,
  exchange: Exchange,
  intake: Omit<Intake<ParsedCapture>, 'parse'>,
): Promise<CaptureRequest> => {
  const rules = captureRules(context)
  return readRequest(context, exchange, { ...intake, parse: (input, found) => parseCapture(input, rules, found) })
}

import { type ParsedCapture, parseCapture } from '#shared/capture/parse-capture.ts'
import type { Idempotency } from '#shared/db/accept-capture.ts'
import type { Context } from '#gateway/context.ts'
import { authorize } from '#gateway/http/authorize.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { identify } from '#gateway/http/identify.ts'
import { idempotencyOf } from '#gateway/http/idempotency.ts'
import { refusalError } from '#gateway/http/refusal-error.ts'
import { type Parse, readParameters } from '#gateway/http/read-parameters.ts'
import { captureRules } from './capture-rules.ts'
import { refuseQuery } from './refuse-query.ts'

/** How the parameters of a request are read. */
export type Intake<Parsed extends { ok: true }> = {
  /** Requests with one idempotency key are the same only where they ask for the same operation. */
  readonly operation: string
  readonly from: 'query' | 'body'
  readonly parse: Parse<Parsed>
}

/** A valid request by a caller whose key the database will judge. */
export type ReadRequest<Parsed> = {
  readonly parsed: Parsed
  readonly keyHash: Buffer
  readonly originHost: string | null
  readonly idempotency: Idempotency | undefined
}

/** A valid request for one capture. */
export type CaptureRequest = ReadRequest<ParsedCapture>

/** Refuses, before anything is read, what is known to be refused. */
const refuseKnown = (context: Context, exchange: Exchange, asker: { keyHash: Buffer; originHost: string | null }) => {
  const refusal = context.captures.refused(asker)
  if (!refusal) return
  exchange.caller = refusal.caller
  throw refusalError(refusal)
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
  refuseKnown(context, exchange, { keyHash, originHost })
  if (!exchange.inputIsSmall) await authorize(context, exchange)
  const hasStrayQuery = intake.from === 'body' && exchange.query !== ''
  const parse = hasStrayQuery ? refuseQuery(exchange.query, intake.parse) : intake.parse
  const verdict = await readParameters(exchange, intake.from, parse)
  if (verdict.ok) {
    const idempotency = verdict.body && idempotencyOf(exchange, intake.operation, verdict.body)
    return { parsed: verdict.parsed, keyHash, originHost, idempotency }
  }
  await authorize(context, exchange)
  throw verdict.error
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

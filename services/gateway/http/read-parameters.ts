import { fromQuery } from '#shared/capture/from-query.ts'
import { AppError, type FieldFaults, toAppError } from '#shared/errors/app-error.ts'
import type { Exchange } from './exchange.ts'
import { idempotencyFaults } from './idempotency.ts'
import { parseJson } from './parse-json.ts'

/** What parameters may be parsed into, by an operation that is told the faults that are known already. */
export type Parse<Parsed extends { ok: true }> = (input: unknown, found: FieldFaults) => MaybePromise<Parsing<Parsed>>

type MaybePromise<T> = T | Promise<T>
type Parsing<Parsed> = Parsed | { readonly ok: false; readonly faults: FieldFaults }

/** The verdict on a request's parameters, held back until the caller is known. `body`: as it was sent, where there is one. */
export type Verdict<Parsed> =
  | { readonly ok: true; readonly parsed: Parsed; readonly body: Buffer | undefined }
  | { readonly ok: false; readonly error: AppError }

/** The error for requests whose parameters have faults. */
export const validationError = (details: FieldFaults): AppError => new AppError('VALIDATION_ERROR', { details })

/** Reads a body of JSON. Throws `BAD_REQUEST`, `PAYLOAD_TOO_LARGE`, or `VALIDATION_ERROR` where it has too many values. */
export const readJson = async (exchange: Pick<Exchange, 'readBody' | 'contentType'>): Promise<unknown> =>
  parseJson(await exchange.readBody(), exchange.contentType)

const verdictOf = <Parsed extends { ok: true }>(parsing: Parsing<Parsed>, body?: Buffer): Verdict<Parsed> =>
  parsing.ok ? { ok: true, parsed: parsing, body } : { ok: false, error: validationError(parsing.faults) }

const judge = async <Parsed extends { ok: true }>(
  exchange: Exchange,
  from: 'query' | 'body',
  parse: Parse<Parsed>,
): Promise<Verdict<Parsed>> => {
  if (exchange.headIsTooLarge) throw new AppError('URI_TOO_LONG')
  if (from === 'query') {
    const read = fromQuery(exchange.query)
    return verdictOf(read.ok ? await parse(read.input, read.faults) : read)
  }
  const body = await exchange.readBody()
  return verdictOf(await parse(parseJson(body, exchange.contentType), idempotencyFaults(exchange)), body)
}

/** Reads and judges the parameters of a request. Throws nothing: what is wrong is told after key, domain and minute limit. */
export const readParameters = async <Parsed extends { ok: true }>(
  exchange: Exchange,
  from: 'query' | 'body',
  parse: Parse<Parsed>,
): Promise<Verdict<Parsed>> => {
  try {
    return await judge(exchange, from, parse)
  } catch (thrown) {
    return { ok: false, error: toAppError(thrown) }
  }
}

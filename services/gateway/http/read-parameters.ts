import { fromQuery } from '#shared/capture/from-query.ts'
import {
  type CaptureRules,
  type CaptureVerdict,
  parseCapture,
  type ParsedCapture,
} from '#shared/capture/parse-capture.ts'
import { AppError, type FieldFaults, toAppError } from '#shared/errors/app-error.ts'
import { isOverstructured } from './is-overstructured.ts'
import type { Exchange } from './exchange.ts'

/** The verdict on a capture request, held back until the caller is known. */
export type Verdict =
  | { readonly ok: true; readonly parsed: ParsedCapture }
  | { readonly ok: false; readonly error: AppError }

/** The error for requests whose parameters have faults. */
export const validationError = (details: FieldFaults): AppError => new AppError('VALIDATION_ERROR', { details })

/** Most commas, lists and objects of a body, far beyond any valid one; each costs more to parse than to send. */
const structureMax = 10_000

const isJson = (contentType: string | undefined): boolean =>
  contentType?.split(';')[0]?.trim().toLowerCase() === 'application/json'

/** Reads a body as JSON. Throws `BAD_REQUEST` where its type or its text is not, `VALIDATION_ERROR` where it has too many values. */
export const readJson = async (exchange: Pick<Exchange, 'readBody' | 'contentType'>): Promise<unknown> => {
  const body = await exchange.readBody()
  if (!isJson(exchange.contentType)) {
    throw new AppError('BAD_REQUEST', { publicMessage: 'The Content-Type must be application/json.' })
  }
  if (isOverstructured(body, structureMax)) {
    throw validationError({ body: [`must have at most ${structureMax} values`] })
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown
  } catch (cause) {
    throw new AppError('BAD_REQUEST', { publicMessage: 'The body is not valid JSON in UTF-8.', cause })
  }
}

const readQuery = (exchange: Exchange, rules: CaptureRules): CaptureVerdict => {
  const read = fromQuery(exchange.query)
  return read.ok ? parseCapture(read.input, rules, read.faults) : read
}

/** Reads and judges the parameters of a capture. Throws nothing: what is wrong is told after key, domain and minute limit. */
export const readParameters = async (
  exchange: Exchange,
  from: 'query' | 'body',
  rules: CaptureRules,
): Promise<Verdict> => {
  try {
    if (exchange.headIsTooLarge) throw new AppError('URI_TOO_LONG')
    const verdict = from === 'query' ? readQuery(exchange, rules) : parseCapture(await readJson(exchange), rules)
    return verdict.ok ? { ok: true, parsed: verdict } : { ok: false, error: validationError(verdict.faults) }
  } catch (thrown) {
    return { ok: false, error: toAppError(thrown) }
  }
}

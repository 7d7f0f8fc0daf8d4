import { fromQuery } from '#shared/capture/from-query.ts'
import {
  type CaptureRules,
  type CaptureVerdict,
  parseCapture,
  type ParsedCapture,
} from '#shared/capture/parse-capture.ts'
import { AppError, type FieldFaults, toAppError } from '#shared/errors/app-error.ts'
import type { Exchange } from './exchange.ts'
import { parseJson } from './parse-json.ts'

/** The verdict on a capture request, held back until the caller is known. */
export type Verdict =
  | { readonly ok: true; readonly parsed: ParsedCapture }
  | { readonly ok: false; readonly error: AppError }

/** The error for requests whose parameters have faults. */
export const validationError = (details: FieldFaults): AppError => new AppError('VALIDATION_ERROR', { details })

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
    const verdict =
      from === 'query'
        ? readQuery(exchange, rules)
        : parseCapture(parseJson(await exchange.readBody(), exchange.contentType), rules)
    return verdict.ok ? { ok: true, parsed: verdict } : { ok: false, error: validationError(verdict.faults) }
  } catch (thrown) {
    return { ok: false, error: toAppError(thrown) }
  }
}

import { AppError } from '#shared/errors/app-error.ts'
import { isUnchanged } from '#gateway/answer/is-unchanged.ts'
import type { Answer, Exchange } from '#gateway/http/exchange.ts'
import type { Printed } from '#gateway/openapi/reference.ts'

/** A few minutes: it changes where the service is updated. */
const cacheControl = 'public, max-age=300'

/** Answers with a text that is the same for everybody. Needs no key; throws `URI_TOO_LONG`. */
export const showPrinted = (
  exchange: Exchange,
  { bytes, etag }: Printed,
  headers: Readonly<Record<string, string>>,
): Answer => {
  if (exchange.headIsTooLarge) throw new AppError('URI_TOO_LONG')
  const validators = { etag, 'cache-control': cacheControl }
  if (isUnchanged(exchange.headers['if-none-match'], etag)) return { status: 304, headers: validators }
  const always = { 'x-content-type-options': 'nosniff', 'content-length': String(bytes.length) }
  return { status: 200, headers: { ...validators, ...always, ...headers }, body: bytes }
}

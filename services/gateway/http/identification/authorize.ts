import type { Caller } from '#shared/db/check-request.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Captures } from '#gateway/capture/captures.ts'
import { refusalError, RequestError } from '#gateway/http/errors.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { identify } from './identify.ts'

/** Checks key, domain and minute limit, in this order. Throws a `RequestError` with the caller where it is known. */
export const authorize = async (
  { captures }: { readonly captures: Pick<Captures, 'check' | 'hashKey'> },
  { headers, headIsTooLarge }: Pick<Exchange, 'headers' | 'headIsTooLarge'>,
): Promise<Caller> => {
  const { key, originHost } = identify(headers)
  const outcome = await captures.check({ keyHash: captures.hashKey(key), originHost })
  if (!outcome.ok) throw refusalError(outcome)
  const { caller } = outcome
  if (headIsTooLarge) throw new RequestError(new AppError('URI_TOO_LONG'), { caller })
  return caller
}

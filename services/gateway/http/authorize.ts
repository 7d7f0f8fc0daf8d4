import type { Caller } from '#shared/db/accept-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Captures } from '#gateway/captures.ts'
import type { Exchange } from './exchange.ts'
import { identify } from './identify.ts'
import { refusalError } from './refusal-error.ts'

/** Checks key, domain and minute limit, in this order, and notes the caller, once. Throws what the request is refused for. */
export const authorize = async (
  deps: { readonly captures: Pick<Captures, 'check' | 'hashKey'> },
  exchange: Exchange,
): Promise<Caller> => {
  if (exchange.caller) return exchange.caller
  const { key, originHost } = identify(exchange.headers)
  const outcome = await deps.captures.check({ keyHash: deps.captures.hashKey(key), originHost })
  exchange.caller = outcome.caller
  if (!outcome.ok) throw refusalError(outcome)
  if (exchange.headIsTooLarge) throw new AppError('URI_TOO_LONG')
  return outcome.caller
}

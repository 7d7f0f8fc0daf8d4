import { toAppError, AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context.ts'
import type { Answer, Exchange } from '#gateway/http/exchange.ts'
import { keyOf } from '#gateway/http/identify.ts'
import { clientAddress } from '#gateway/links/client-address.ts'

/**
 * Serves a request unless too many wrong keys came from its address: then the database is not asked, and it throws
 * `RATE_LIMIT_EXCEEDED`. What has no key of the right form is refused without the database anyway, and not counted.
 */
export const guardKeys = async (
  { keyGuesses, captures, links }: Pick<Context, 'keyGuesses' | 'captures' | 'links'>,
  exchange: Exchange,
  run: () => Promise<Answer>,
): Promise<Answer> => {
  const key = keyOf(exchange.headers)
  if (key === undefined) return await run()
  const { peerAddress, headers } = exchange
  const client = () => clientAddress(peerAddress, headers['x-forwarded-for']?.toString(), links.trustedProxies)
  const name = () => captures.hashKey(key).toString('base64')
  const retryAfterSeconds = keyGuesses.waitSeconds(client, name)
  if (retryAfterSeconds > 0) {
    const publicMessage = `Too many wrong API keys from this address; try again in ${retryAfterSeconds} seconds.`
    throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage, retryAfterSeconds })
  }
  try {
    return await run()
  } catch (thrown) {
    if (toAppError(thrown).code === 'INVALID_API_KEY') keyGuesses.wasWrong(client(), name())
    throw thrown
  } finally {
    if (exchange.caller) keyGuesses.wasGood(name())
  }
}

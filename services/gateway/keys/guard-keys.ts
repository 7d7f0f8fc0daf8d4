import { AppError, toAppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context.ts'
import type { Answer, Exchange } from '#gateway/http/exchange.ts'
import { keyOf } from '#gateway/http/identify.ts'

/**
 * Serves a request unless too many wrong keys came from its client: then it throws `RATE_LIMIT_EXCEEDED`. What has no key
 * of the right form is refused without the database anyway, and not counted.
 */
export const guardKeys = async (
  { keyGuesses, captures, clients }: Pick<Context, 'keyGuesses' | 'captures' | 'clients'>,
  exchange: Exchange,
  run: () => Promise<Answer>,
): Promise<Answer> => {
  const key = keyOf(exchange.headers)
  if (key === undefined) return await run()
  const admission = await keyGuesses.admit(captures.hashKey(key), () => clients.find(exchange))
  if (!('settle' in admission)) {
    const { waitSeconds: retryAfterSeconds } = admission
    const publicMessage = `Too many wrong API keys from this address; try again in ${retryAfterSeconds} seconds.`
    throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage, retryAfterSeconds })
  }
  let isWrong = false
  try {
    return await run()
  } catch (thrown) {
    isWrong = toAppError(thrown).code === 'INVALID_API_KEY'
    throw thrown
  } finally {
    admission.settle(isWrong ? 'wrong' : exchange.caller ? 'good' : 'not judged')
  }
}

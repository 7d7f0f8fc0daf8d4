import type { FoundCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Captures } from '#gateway/captures.ts'
import { authorize } from '#gateway/http/authorize.ts'
import type { Exchange } from '#gateway/http/exchange.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** An id that nothing has: malformed ids take the same way and the same time as unknown ones. */
const nobody = '00000000-0000-0000-0000-000000000000'

/** The id that the path names, in its normal form. */
export const namedId = ({ params }: Pick<Exchange, 'params'>): string => {
  const given = params['id'] ?? ''
  return uuid.test(given) ? given.toLowerCase() : nobody
}

/** The caller's capture that the path names. Throws `NOT_FOUND` alike for unknown and malformed ids and those of other accounts. */
export const findOwned = async (
  deps: { readonly captures: Pick<Captures, 'check' | 'hashKey' | 'find'> },
  exchange: Exchange,
): Promise<FoundCapture> => {
  const { accountId } = await authorize(deps, exchange)
  const capture = await deps.captures.find({ id: namedId(exchange), accountId })
  if (!capture) throw new AppError('NOT_FOUND')
  return capture
}

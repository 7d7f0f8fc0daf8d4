import type { FoundCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Captures } from '#gateway/captures.ts'
import { authorize } from '#gateway/http/authorize.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { pathId } from './path-id.ts'

/** The caller's capture that the path names. Throws `NOT_FOUND` alike for unknown and malformed ids and those of other accounts. */
export const findOwned = async (
  deps: { readonly captures: Pick<Captures, 'check' | 'hashKey' | 'find'> },
  exchange: Exchange,
): Promise<FoundCapture> => {
  const { accountId } = await authorize(deps, exchange)
  const capture = await deps.captures.find({ id: pathId(exchange), accountId })
  if (!capture) throw new AppError('NOT_FOUND')
  return capture
}

import type { FoundCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Captures } from '#gateway/capture/captures.ts'

/** A capture of the account. Throws `NOT_FOUND` alike for unknown and malformed ids and those of other accounts. */
export const findOwned = async (
  { captures }: { readonly captures: Pick<Captures, 'find'> },
  of: { readonly id: string; readonly accountId: string },
): Promise<FoundCapture> => {
  const capture = await captures.find(of)
  if (!capture) throw new AppError('NOT_FOUND')
  return capture
}

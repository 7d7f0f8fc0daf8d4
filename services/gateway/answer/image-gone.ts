import { AppError } from '#shared/errors/app-error.ts'
import type { Events } from '#gateway/events.ts'

/** The error for a completed capture whose image is not in the store as reported: for clients it is gone, for operators a fault. */
export const imageGone = (deps: { readonly events: Pick<Events, 'imageMissing'> }, id: string): AppError => {
  deps.events.imageMissing(id)
  return new AppError('EXPIRED')
}

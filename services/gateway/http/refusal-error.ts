import type { Refusal } from '#shared/db/accept-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'

const publicMessageOf = ({ code, feature, retryAfterSeconds }: Refusal): string | undefined => {
  if (code === 'FEATURE_NOT_AVAILABLE') return `The feature ${feature ?? ''} is not part of the plan.`
  if (code === 'RATE_LIMIT_EXCEEDED')
    return `Too many requests in this minute; try again in ${retryAfterSeconds ?? 60} seconds.`
  return undefined
}

/** The error that a client sees where the database refused its request. */
export const refusalError = (refusal: Refusal): AppError => {
  const publicMessage = publicMessageOf(refusal)
  return new AppError(refusal.code, {
    ...(publicMessage !== undefined && { publicMessage }),
    ...(refusal.retryAfterSeconds !== undefined && { retryAfterSeconds: refusal.retryAfterSeconds }),
  })
}

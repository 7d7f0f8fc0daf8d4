import type { Caller, Refusal } from '#shared/db/check-request.ts'
import { AppError, type FieldErrors, toAppError } from '#shared/errors/app-error.ts'

/** Facts about a request that its response includes, even if it fails. */
export type RequestFacts = {
  /** The authenticated caller, whose limits every later response includes. */
  readonly caller?: Caller | undefined
  /** The capture that the request created, or may have created if the database was unavailable. */
  readonly screenshotId?: string | undefined
  /** Whether an identical request was accepted before. */
  readonly isReplay?: boolean
}

/** The error of a request, with the facts known by then. */
export class RequestError extends Error {
  readonly error: AppError
  readonly facts: RequestFacts
  constructor(error: AppError, facts: RequestFacts) {
    super(error.message, { cause: error })
    this.error = error
    this.facts = facts
  }
}

/** Converts anything thrown into a `RequestError`. */
export const toRequestError = (thrown: unknown): RequestError =>
  thrown instanceof RequestError ? thrown : new RequestError(toAppError(thrown), {})

/** Runs `work`, and adds `facts` to the error that it throws. */
export const withFacts = async <T>(facts: RequestFacts, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (thrown) {
    const { error, facts: later } = toRequestError(thrown)
    throw new RequestError(error, { ...facts, ...later })
  }
}

/** Returns a lookup's result. Throws `NOT_FOUND`, the same for unknown and malformed ids and those of other accounts. */
export const orNotFound = <T>(found: T | false | undefined): T => {
  if (found === undefined || found === false) throw new AppError('NOT_FOUND')
  return found
}

/** The error for invalid parameters. */
export const validationError = (details: FieldErrors): AppError => new AppError('VALIDATION_ERROR', { details })

const featureMessage = (feature: string): string => `The feature ${feature} is not part of the plan.`

/** The error for a feature that is not part of the caller's plan. */
export const featureError = (feature: string): AppError =>
  new AppError('FEATURE_NOT_AVAILABLE', { publicMessage: featureMessage(feature) })

const refusalMessage = ({ code, feature, retryAfterSeconds }: Refusal): string | undefined => {
  if (code === 'FEATURE_NOT_AVAILABLE') return featureMessage(feature ?? '')
  if (code === 'RATE_LIMIT_EXCEEDED')
    return `Too many requests in this minute; try again in ${retryAfterSeconds ?? 60} seconds.`
  return undefined
}

/** The error for a request that the database refused. */
export const refusalError = (refusal: Refusal): RequestError => {
  const { code, caller, retryAfterSeconds } = refusal
  const publicMessage = refusalMessage(refusal)
  const error = new AppError(code, {
    ...(publicMessage !== undefined && { publicMessage }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
  return new RequestError(error, { caller })
}

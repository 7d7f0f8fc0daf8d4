import type { Caller, Refusal } from '#shared/db/check-request.ts'
import { AppError, type FieldFaults, toAppError } from '#shared/errors/app-error.ts'

/** What is known of a request when it ends, beside its answer. */
export type RequestFacts = {
  /** Who calls, by the database: every answer from then on carries the account's limits. */
  readonly caller?: Caller | undefined
  /** The capture that the request was accepted as, or may have been where the database did not answer. */
  readonly screenshotId?: string | undefined
  /** Whether the same request was accepted before. */
  readonly isReplay?: boolean
}

/** The error of a request with what was known of it by then. */
export class RequestError extends Error {
  readonly error: AppError
  readonly facts: RequestFacts
  constructor(error: AppError, facts: RequestFacts) {
    super(error.message, { cause: error })
    this.error = error
    this.facts = facts
  }
}

/** Reads whatever a request's work has thrown. */
export const toRequestError = (thrown: unknown): RequestError =>
  thrown instanceof RequestError ? thrown : new RequestError(toAppError(thrown), {})

/** Does the rest of a request's work; whatever that throws carries what was known before. */
export const withFacts = async <T>(facts: RequestFacts, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (thrown) {
    const { error, facts: later } = toRequestError(thrown)
    throw new RequestError(error, { ...facts, ...later })
  }
}

/** What was looked up for a caller. Throws `NOT_FOUND` alike for unknown and malformed ids and those of other accounts. */
export const orNotFound = <T>(looked: T | false | undefined): T => {
  if (looked === undefined || looked === false) throw new AppError('NOT_FOUND')
  return looked
}

/** The error for requests whose parameters have faults. */
export const validationError = (details: FieldFaults): AppError => new AppError('VALIDATION_ERROR', { details })

const featureMessage = (feature: string): string => `The feature ${feature} is not part of the plan.`

/** The error for a feature that the caller's plan lacks. */
export const featureError = (feature: string): AppError =>
  new AppError('FEATURE_NOT_AVAILABLE', { publicMessage: featureMessage(feature) })

const refusalMessage = ({ code, feature, retryAfterSeconds }: Refusal): string | undefined => {
  if (code === 'FEATURE_NOT_AVAILABLE') return featureMessage(feature ?? '')
  if (code === 'RATE_LIMIT_EXCEEDED')
    return `Too many requests in this minute; try again in ${retryAfterSeconds ?? 60} seconds.`
  return undefined
}

/** The error that a client sees where the database refused its request. */
export const refusalError = (refusal: Refusal): RequestError => {
  const { code, caller, retryAfterSeconds } = refusal
  const publicMessage = refusalMessage(refusal)
  const error = new AppError(code, {
    ...(publicMessage !== undefined && { publicMessage }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
  return new RequestError(error, { caller })
}

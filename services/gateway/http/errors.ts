import type { Caller, Refusal } from '#shared/db/check-request.ts'
import { movingMessage } from '#shared/db/classify-error.ts'
import { featureMessage, listOf } from '#gateway/db/feature-error.ts'
import { catalog } from '#shared/errors/catalog.ts'
import { nounOf } from '#gateway/openapi/schema/contract.ts'
import type { Exchange } from './exchange.ts'
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

/** Longest part of a path that a message quotes. */
const quotedMax = 100

/**
 * Adds to a `NOT_FOUND` that does not say what is missing the ids in the path of its operation. Malformed ids and those of other
 * accounts get the same message.
 */
export const namingMissing = (
  thrown: unknown,
  { path }: { readonly path: string },
  { params }: Pick<Exchange, 'params'>,
): unknown => {
  const { error, facts } = toRequestError(thrown)
  if (error.code !== 'NOT_FOUND' || error.publicMessage !== catalog.NOT_FOUND.publicMessage) return thrown
  const named = path.split('/').flatMap((segment, index, segments) => {
    const value = segment.startsWith(':') ? params[segment.slice(1)] : undefined
    return value === undefined ? [] : [`${nounOf(segments[index - 1])} ${listOf([value.slice(0, quotedMax)])}`]
  })
  if (named.length === 0) return thrown
  return new RequestError(
    new AppError('NOT_FOUND', { publicMessage: `There is no ${named.toReversed().join(' of the ')}.` }),
    facts,
  )
}

/** The error for invalid parameters. */
export const validationError = (details: FieldErrors): AppError => new AppError('VALIDATION_ERROR', { details })

/** Most domains that a message names. */
const domainsNamedMax = 5

const domainMessage = (domains: readonly string[], originHost: string | null): string => {
  const more = domains.length - domainsNamedMax
  const named = listOf(domains.slice(0, domainsNamedMax)) + (more > 0 ? ` and ${more} more` : '')
  const origin =
    originHost === null
      ? 'the request has no `Origin` or `Referer` header with a host'
      : `this one is of ${listOf([originHost])}`
  return `The API key may be used from pages of ${named} only; ${origin}.`
}

const keyMessages = {
  revoked: (at: string) => `The API key was revoked at ${at}.`,
  expired: (at: string) => `The API key expired at ${at}.`,
  disabled: () => 'The account of the API key is disabled.',
  moving: () => movingMessage,
  moved: () => movingMessage,
} as const

const scopeMessage = (scopes: readonly string[]): string =>
  `The API key lacks the scope ${scopes.map((scope) => listOf([scope])).join(' or ')}, which this request requires.`

const refusalMessage = (refusal: Refusal, originHost: string | null): string | undefined => {
  const { code, grounds = [], keyState, sufficientPlan, retryAfterSeconds } = refusal
  switch (code) {
    case 'INVALID_API_KEY':
      return keyState ? keyMessages[keyState](grounds[0] ?? '') : 'There is no such API key.'
    case 'DOMAIN_NOT_ALLOWED':
      return domainMessage(grounds, originHost)
    case 'FORBIDDEN':
      return scopeMessage(grounds)
    case 'FEATURE_NOT_AVAILABLE':
      return featureMessage(grounds, sufficientPlan)
    case 'SERVICE_UNAVAILABLE':
      return keyState && movingMessage
    case 'RATE_LIMIT_EXCEEDED':
      return `Too many requests in this minute; try again in ${retryAfterSeconds ?? 60} seconds.`
    default:
      return undefined
  }
}

/** The error for a request that the database refused. `originHost`: of the page that sent it. */
export const refusalError = (refusal: Refusal, originHost: string | null): RequestError => {
  const { code, caller, retryAfterSeconds } = refusal
  const publicMessage = refusalMessage(refusal, originHost)
  const error = new AppError(code, {
    ...(publicMessage !== undefined && { publicMessage }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
  return new RequestError(error, { caller })
}

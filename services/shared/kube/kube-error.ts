import { AppError } from '#shared/errors/app-error.ts'

/**
 * What a failed request means for its caller. `unavailable`: it may have been executed. `invalid` includes every
 * rejection that a retry does not fix.
 */
export type Outcome =
  | 'conflict'
  | 'already-exists'
  | 'not-found'
  | 'gone'
  | 'too-many-requests'
  | 'quota'
  | 'forbidden'
  | 'invalid'
  | 'unavailable'

/** A request that the API server rejected, or did not respond to. */
export class KubeError extends AppError {
  readonly outcome: Outcome

  constructor(outcome: Outcome, options: { message: string; retryAfterSeconds?: number; cause?: unknown }) {
    super(transient.includes(outcome) ? 'SERVICE_UNAVAILABLE' : 'SERVER_ERROR', options)
    this.name = 'KubeError'
    this.outcome = outcome
  }
}

const transient: readonly Outcome[] = ['too-many-requests', 'quota', 'unavailable']

/** Returns the outcome of a KubeError; undefined for any other error. */
export const outcomeOf = (thrown: unknown): Outcome | undefined =>
  thrown instanceof KubeError ? thrown.outcome : undefined

/** The fields of Kubernetes' Status object that are used. */
export type Status = { readonly code?: number; readonly reason?: string; readonly message?: string }

/** Converts a Status to an error. `retryAfterSeconds` comes from the response's header. */
export const errorOfStatus = (status: Status, what: string, retryAfterSeconds?: number): KubeError =>
  new KubeError(outcomeOfStatus(status), {
    message: `${what}: ${status.code ?? 'no code'} ${status.reason ?? ''} ${status.message ?? ''}`.slice(
      0,
      messageChars,
    ),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })

/** Converts an error of a connection: reset, time-out, refused connection, invalid JSON. Returns an AppError unchanged. */
export const errorOfConnection = (thrown: unknown, what: string): AppError =>
  thrown instanceof AppError
    ? thrown
    : new KubeError('unavailable', {
        message: `${what}: ${thrown instanceof Error ? thrown.message : String(thrown)}`.slice(0, messageChars),
        cause: thrown,
      })

const messageChars = 1000
/** Statuses with one meaning. 403 and 409 have two, distinguished by reason and message. */
const outcomes: Readonly<Record<number, Outcome>> = {
  401: 'forbidden',
  404: 'not-found',
  408: 'unavailable',
  410: 'gone',
  429: 'too-many-requests',
}

const outcomeOfStatus = ({ code = 500, reason, message = '' }: Status): Outcome => {
  if (code === 409) return reason === 'AlreadyExists' ? 'already-exists' : 'conflict'
  if (code === 403) return message.includes('exceeded quota') ? 'quota' : 'forbidden'
  // An applied object has a field that its kind lacks: the server responds with 500 (kubernetes/kubernetes#139253).
  if (code === 500 && message.includes('failed to create typed patch object')) return 'invalid'
  return outcomes[code] ?? (code >= 500 ? 'unavailable' : 'invalid')
}

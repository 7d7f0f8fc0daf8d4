import { type AppError, toAppError } from '#shared/errors/app-error.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { backOffMs } from '#shared/policy/back-off.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'

type Failure = {
  readonly times: number
  readonly retryAtMs: number
  readonly desired: string
  readonly mustWait: boolean
  readonly error: AppError
}

const bounds = { firstMs: 100, lastMs: 300_000 }

/** Creates the back-off of work that is attempted periodically; `failed` is called with each failure. */
export const createRetries = ({ nowMs }: Pick<Clock, 'nowMs'>, failed: (error: AppError, retryMs: number) => void) => {
  let failure: Failure | undefined
  return {
    /**
     * Runs `work` unless it backs off after a failure: 0.1 s, doubled with each further failure, or the server's `Retry-After`
     * if that is longer; at most five minutes. Another desired state ends the back-off, unless the server throttles.
     */
    run: async (desired: string, work: () => Promise<void>): Promise<void> => {
      const isHeldBack = failure && (failure.mustWait || failure.desired === desired)
      if (failure && isHeldBack && nowMs() < failure.retryAtMs) return
      try {
        await work()
        failure = undefined
      } catch (thrown) {
        const error = toAppError(thrown)
        const times = failure?.times ?? 0
        const retryAfterMs = (error.retryAfterSeconds ?? 0) * 1000
        const retryMs = Math.min(bounds.lastMs, Math.max(backOffMs(bounds, times), retryAfterMs))
        const mustWait = retryAfterMs > 0 || outcomeOf(error) === 'too-many-requests'
        failure = { times: times + 1, retryAtMs: nowMs() + retryMs, desired, mustWait, error }
        failed(error, retryMs)
      }
    },
    hasFailed: () => failure !== undefined,
    /** Why the last run failed, if an operator has to intervene; undefined after a transient failure. */
    problem: () => (failure && !isTransient(failure.error) ? failure.error.message : undefined),
    reset: () => {
      failure = undefined
    },
  }
}

const isTransient = (error: AppError): boolean => {
  const outcome = outcomeOf(error)
  return outcome === 'unavailable' || outcome === 'too-many-requests' || outcome === 'conflict'
}

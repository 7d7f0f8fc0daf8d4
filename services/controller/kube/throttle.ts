import { AppError } from '#shared/errors/app-error.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'

/** Suspends requests after the API server responded 429. */
export type Throttle = ReturnType<typeof createThrottle>

/** Shortest throttle, also after a 429 without `Retry-After`, and longest. */
const minMs = 1000
const maxMs = 30_000

/** Creates an inactive throttle. After a 429 it is active for the `Retry-After`, bounded to 1 to 30 s. */
export const createThrottle = (nowMs: () => number) => {
  let untilMs = Number.NEGATIVE_INFINITY
  return {
    /** Takes the error of a request. */
    observe: (thrown: unknown): void => {
      if (outcomeOf(thrown) !== 'too-many-requests') return
      const retryAfterMs = thrown instanceof AppError ? (thrown.retryAfterSeconds ?? 0) * 1000 : 0
      untilMs = Math.max(untilMs, nowMs() + Math.min(maxMs, Math.max(minMs, retryAfterMs)))
    },
    /** Whether no request may be sent now. */
    isActive: () => nowMs() < untilMs,
  }
}

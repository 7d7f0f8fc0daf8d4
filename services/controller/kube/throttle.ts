import { AppError } from '#shared/errors/app-error.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'

/** Whether the API server has asked for throttle. */
export type Throttle = ReturnType<typeof createThrottle>

/** Throttle after an answer that names no time, and the least after any. */
const usualMs = 1000
const lastMs = 30_000

/** Begins without throttle. After a 429 it lasts as long as that asks for, from 1 to 30 s. */
export const createThrottle = (nowMs: () => number) => {
  let untilMs = Number.NEGATIVE_INFINITY
  return {
    /** Takes what a request threw. */
    observe: (thrown: unknown): void => {
      if (outcomeOf(thrown) !== 'too-many-requests') return
      const askedMs = thrown instanceof AppError ? (thrown.retryAfterSeconds ?? 0) * 1000 : 0
      untilMs = Math.max(untilMs, nowMs() + Math.min(lastMs, Math.max(usualMs, askedMs)))
    },
    /** Whether nothing is to be sent now. */
    isActive: () => nowMs() < untilMs,
  }
}

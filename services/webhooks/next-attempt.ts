/** Largest random share added to a delay, so that receivers that failed together are not retried together. */
const jitter = 0.1

/**
 * Milliseconds until the attempt after the `failed`th failed one (1: the first), or null if there is none. `random`
 * lies from 0 to 1.
 */
export const nextAttemptMs = (retryDelaysMs: readonly number[], failed: number, random: number): number | null => {
  const delayMs = retryDelaysMs[failed - 1]
  return delayMs === undefined ? null : Math.round(delayMs * (1 + jitter * random))
}

/** Time that a delivery may wait in addition to its schedule: for its turn, and for a receiver that does not respond. */
const spareMs = 24 * 3_600_000

/** Milliseconds after which a delivery that still waits is given up. */
export const maxAgeMs = (retryDelaysMs: readonly number[]): number =>
  retryDelaysMs.reduce((sum, delayMs) => sum + delayMs * (1 + jitter), spareMs)

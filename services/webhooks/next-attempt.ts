/** Largest random share added to a wait, so that receivers that failed together are not retried together. */
const jitter = 0.1

/**
 * Milliseconds until the attempt after the `failed`th failed one (1: the first), or null if there is none. `chance`
 * lies from 0 to 1.
 */
export const nextAttemptMs = (waitsMs: readonly number[], failed: number, chance: number): number | null => {
  const waitMs = waitsMs[failed - 1]
  return waitMs === undefined ? null : Math.round(waitMs * (1 + jitter * chance))
}

/** Time that a delivery may wait in addition to its schedule: for its turn, and for a receiver that does not respond. */
const spareMs = 24 * 3_600_000

/** Milliseconds after which a delivery that still waits is given up. */
export const greatestAgeMs = (waitsMs: readonly number[]): number =>
  waitsMs.reduce((sum, waitMs) => sum + waitMs * (1 + jitter), spareMs)

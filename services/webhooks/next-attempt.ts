/** Most that chance adds to a wait, as a part of it: receivers that failed together are not asked together again. */
const jitter = 0.1

/**
 * Milliseconds until the attempt after the `failed`th failed one (1: the first), or null where there is none. `chance`
 * lies from 0 to 1.
 */
export const nextAttemptMs = (waitsMs: readonly number[], failed: number, chance: number): number | null => {
  const waitMs = waitsMs[failed - 1]
  return waitMs === undefined ? null : Math.round(waitMs * (1 + jitter * chance))
}

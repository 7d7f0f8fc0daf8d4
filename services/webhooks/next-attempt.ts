/** Largest random share added to a delay, so that receivers that failed together are not retried together. */
const jitter = 0.1

/** Longest wait that a receiver may request. */
const requestedMsMax = 3_600_000

/** Milliseconds of a `Retry-After` (RFC 9110 §10.2.3); 0 if it is missing, past or malformed. */
export const requestedWaitMs = (header: string | undefined, now: Date): number => {
  const seconds = Number(header?.trim() || Number.NaN)
  const ms = Number.isNaN(seconds) ? Date.parse(header ?? '') - now.getTime() : seconds * 1000
  return Math.min(requestedMsMax, Math.max(0, ms || 0))
}

/**
 * Milliseconds until the attempt after the `failed`th failed one (1: the first), or null if there is none: the later of the schedule
 * and what the receiver requested. `random` lies from 0 to 1.
 */
export const nextAttemptMs = (
  retryDelaysMs: readonly number[],
  failed: number,
  { random, requestedMs = 0 }: { readonly random: number; readonly requestedMs?: number | undefined },
): number | null => {
  const delayMs = retryDelaysMs[failed - 1]
  return delayMs === undefined ? null : Math.round(Math.max(delayMs, requestedMs) * (1 + jitter * random))
}

/** Time that a delivery may wait in addition to its schedule: for its turn, and for a receiver that does not respond. */
const spareMs = 24 * 3_600_000

/** Milliseconds after which a delivery that still waits is given up. */
export const maxAgeMs = (retryDelaysMs: readonly number[]): number =>
  retryDelaysMs.reduce((sum, delayMs) => sum + delayMs * (1 + jitter), spareMs)

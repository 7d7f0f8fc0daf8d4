import { setTimeout as delay } from 'node:timers/promises'

const pollMs = 20

/** Polls until a condition is met, at most until `endsAt` (on `performance`'s clock); returns whether it was met. */
export const waitUntil = async (isMet: () => boolean, endsAt: number): Promise<boolean> => {
  while (!isMet()) {
    if (performance.now() >= endsAt) return false
    await delay(pollMs)
  }
  return true
}

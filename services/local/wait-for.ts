import { setTimeout as delay } from 'node:timers/promises'

const pollMs = 25

/** Polls every 25 ms; returns whether `condition` became true within `withinMs`. */
export const waitUntil = async (withinMs: number, condition: () => Promise<boolean>): Promise<boolean> => {
  const end = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() >= end) return false
    await delay(pollMs)
  }
  return true
}

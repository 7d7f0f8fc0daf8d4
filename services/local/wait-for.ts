import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 25

/** Whether `holds` became true within `withinMs`. */
export const waitUntil = async (withinMs: number, holds: () => Promise<boolean>): Promise<boolean> => {
  const end = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() >= end) return false
    await sleep(pollMs)
  }
  return true
}

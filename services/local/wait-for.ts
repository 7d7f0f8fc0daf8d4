import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 25

/** Looks until `look` answers something other than undefined; undefined once `withinMs` have passed. */
export const waitFor = async <T>(withinMs: number, look: () => Promise<T | undefined>): Promise<T | undefined> => {
  const end = performance.now() + withinMs
  for (;;) {
    const seen = await look()
    if (seen !== undefined || performance.now() >= end) return seen
    await sleep(pollMs)
  }
}

/** Whether `holds` became true within `withinMs`. */
export const waitUntil = async (withinMs: number, holds: () => Promise<boolean>): Promise<boolean> =>
  (await waitFor(withinMs, async () => ((await holds()) ? true : undefined))) ?? false

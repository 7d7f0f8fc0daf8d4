import { setTimeout as delay } from 'node:timers/promises'

/** Waits for `waitMs`, or until `stop` aborts. */
export const pause = (waitMs: number, stop: AbortSignal): Promise<void> =>
  delay(waitMs, undefined, { signal: stop }).catch(() => {})

import { setTimeout as delay } from 'node:timers/promises'

/** Waits for `waitMs`, or until `stop` aborts. */
export const pause = (waitMs: number, stop: AbortSignal): Promise<void> =>
  delay(waitMs, undefined, { signal: stop }).catch(() => {})

/** Aborts `waitMs` after `signal` does, and at once without a wait. */
export const abortAfter = (signal: AbortSignal, waitMs: number): AbortSignal => {
  if (waitMs === 0) return signal
  const later = new AbortController()
  const start = () => void setTimeout(() => later.abort(), waitMs)
  if (signal.aborted) start()
  else signal.addEventListener('abort', start, { once: true })
  return later.signal
}

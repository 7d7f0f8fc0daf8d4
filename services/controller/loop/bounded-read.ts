import { within } from '#shared/process/within.ts'

/** Longest wait for one read; the queue's own bound is longer than a tick. */
const readMs = 800

/** Bounds a read: it resolves to 'unknown' if it fails, takes longer than 0.8 s, or the previous read has not ended. */
export const boundedRead = <T>(read: () => Promise<T>): (() => Promise<T | 'unknown'>) => {
  let isReading = false
  return async () => {
    if (isReading) return 'unknown'
    isReading = true
    const reading = read().finally(() => {
      isReading = false
    })
    return within(reading, readMs, () => new Error('the read takes too long')).catch(() => 'unknown')
  }
}

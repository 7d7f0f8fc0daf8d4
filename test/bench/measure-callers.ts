import type { SmallPage } from './small-page.ts'

/** How much is measured; the pool follows each number of callers for `settleMs` before anything is counted. */
export type CallersWorkload = {
  readonly callers: readonly number[]
  readonly settleMs: number
  readonly countedMs: number
}

/** Captures per second of a small page for so many callers at a time, each of whom waits for its image before the next. */
export const measureCallers = async (
  { capture }: SmallPage,
  { callers, settleMs, countedMs }: CallersWorkload,
): Promise<{ callers: number; perSecond: number }[]> => {
  const callFor = async (forMs: number) => {
    const untilMs = performance.now() + forMs
    let captures = 0
    for (; performance.now() < untilMs; captures += 1) await capture()
    return captures
  }
  const all: { callers: number; perSecond: number }[] = []
  for (const count of callers) {
    await Promise.all(Array.from({ length: count }, () => callFor(settleMs)))
    const counts = await Promise.all(Array.from({ length: count }, () => callFor(countedMs)))
    all.push({ callers: count, perSecond: counts.reduce((sum, each) => sum + each, 0) / (countedMs / 1000) })
  }
  return all
}

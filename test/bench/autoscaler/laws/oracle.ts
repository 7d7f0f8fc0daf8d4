import type { Law } from '#test/bench/autoscaler/law.ts'
import type { Arrival } from '#cli/simulation/pods.ts'

const stepMs = 500

/**
 * Knows the arrivals: has as many pods as captures would run if none waited, each requested `startMs` before. No law that sees only the
 * past can be better: it is the distance that is left.
 */
export const createOracle = (arrivals: readonly Arrival[], startMs: number, slots: number): Law => {
  const changes = arrivals
    .flatMap(({ atMs, serviceMs }) => [
      { atMs, by: 1 },
      { atMs: atMs + serviceMs, by: -1 },
    ])
    .toSorted((one, other) => one.atMs - other.atMs)
  const peaks: number[] = []
  let running = 0
  for (const { atMs, by } of changes) {
    running += by
    const step = Math.floor(atMs / stepMs)
    for (let filled = peaks.length; filled <= step; filled += 1) peaks.push(running - by)
    peaks[step] = Math.max(peaks[step] ?? 0, running)
  }
  return {
    kind: 'pods',
    everyMs: stepMs,
    wakesFromZero: false,
    size: ({ nowMs }) => {
      const ahead = peaks.slice(Math.floor(nowMs / stepMs), Math.ceil((nowMs + startMs) / stepMs) + 1)
      return Math.ceil(Math.max(0, ...ahead) / slots)
    },
  }
}

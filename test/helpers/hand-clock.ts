import type { Clock } from '#shared/kube/clock.ts'

type Timer = { readonly dueMs: number; readonly run: () => void }

/** A clock whose time passes only when a test says so. */
export type HandClock = Clock & {
  /** Lets `ms` pass: runs what falls due in its order, and all that follows from each before the next. */
  readonly advance: (ms: number) => Promise<void>
  /** Lets `ms` pass in which nothing runs, as for a process that is stopped. */
  readonly freeze: (ms: number) => void
}

/** Lets everything run that waits for no time. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((wake) => setImmediate(wake))
}

/** Makes a clock that stands at 0. */
export const createHandClock = (): HandClock => {
  let nowMs = 0
  const timers = new Set<Timer>()
  const nextBy = (endMs: number): Timer | undefined =>
    [...timers].filter(({ dueMs }) => dueMs <= endMs).toSorted((one, other) => one.dueMs - other.dueMs)[0]

  return {
    nowMs: () => nowMs,
    date: () => new Date(Date.UTC(2026, 0, 1) + nowMs),
    after: (waitMs, run) => {
      const timer = { dueMs: nowMs + waitMs, run }
      timers.add(timer)
      return { [Symbol.dispose]: () => void timers.delete(timer) }
    },
    advance: async (ms) => {
      const endMs = nowMs + ms
      await settle()
      for (let timer = nextBy(endMs); timer; timer = nextBy(endMs)) {
        timers.delete(timer)
        nowMs = Math.max(nowMs, timer.dueMs)
        timer.run()
        await settle()
      }
      nowMs = endMs
      await settle()
    },
    freeze: (ms) => {
      nowMs += ms
    },
  }
}

import type { Wakeup } from '#shared/process/wakeup.ts'

/** No capture has been open for this long: the span over which arrivals are counted. */
const idleAfterMs = 10_000

/** Whether there is nothing to do, so that loops which only look for work run less often. */
export type IdleMonitor = ReturnType<typeof createIdleMonitor>

/** Begins as busy. `now` is a monotonic clock in milliseconds. */
export const createIdleMonitor = (now: () => number = () => performance.now()) => {
  const wakeups = new Set<Pick<Wakeup, 'notify'>>()
  let isIdle = false
  let busyAtMs = now()
  const markBusy = () => {
    busyAtMs = now()
    if (!isIdle) return
    isIdle = false
    for (const wakeup of wakeups) wakeup.notify()
  }
  return {
    isIdle: (): boolean => isIdle,
    /** There is work. Where the ledger was idle, every subscribed loop runs at once. */
    markBusy,
    /** Takes in whether a count has found captures that have not ended. */
    observe: (areOpen: boolean): void => {
      if (areOpen) markBusy()
      else isIdle ||= now() - busyAtMs >= idleAfterMs
    },
    /** Has `wakeup` notified when the ledger is idle no more. */
    subscribe: (wakeup: Pick<Wakeup, 'notify'>) => void wakeups.add(wakeup),
  }
}

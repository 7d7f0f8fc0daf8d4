import type { Wakeup } from '#shared/process/wakeup.ts'

/** Time without open captures after which the ledger is idle. */
const idleAfterMs = 10_000

/** Tracks whether the ledger is idle, so that polling loops run less often. */
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
    /** Records that there is work. If the ledger was idle, notifies every subscribed wakeup. */
    markBusy,
    /** Records whether a count found captures that have not ended. */
    observe: (hasOpenCaptures: boolean): void => {
      if (hasOpenCaptures) markBusy()
      else isIdle ||= now() - busyAtMs >= idleAfterMs
    },
    /** Notifies `wakeup` when the ledger is no longer idle. */
    subscribe: (wakeup: Pick<Wakeup, 'notify'>) => void wakeups.add(wakeup),
  }
}

/** Wakes the one loop that waits for it. Notifications outside of a wait are kept as one, for the next wait. */
export type Wakeup = ReturnType<typeof createWakeup>

/** Each wait takes at least `gapMs`, even if notified, unless stopped. */
export const createWakeup = (gapMs = 0) => {
  let isNotified = false
  let wake = () => {}

  const sleep = async (ms: number, stop: AbortSignal, isOver: () => boolean) => {
    if (stop.aborted || isOver()) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = () => resolve()
    const timer = setTimeout(end, ms)
    wake = () => {
      if (isOver()) end()
    }
    stop.addEventListener('abort', end)
    await promise
    clearTimeout(timer)
    stop.removeEventListener('abort', end)
  }

  return {
    notify: (): void => {
      isNotified = true
      wake()
    },
    /** Resolves at the next notification, or a kept one, after `boundMs`, or once `stop` aborts. */
    wait: async (boundMs: number, stop: AbortSignal): Promise<void> => {
      if (gapMs > 0) await sleep(gapMs, stop, () => false)
      await sleep(Math.max(0, boundMs - gapMs), stop, () => isNotified)
      isNotified = false
    },
  }
}

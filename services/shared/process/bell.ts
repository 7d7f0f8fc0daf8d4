/** Wakes the one loop that waits at it. A ring while nobody waits is kept, but only once. */
export type Bell = {
  readonly ring: () => void
  /** Resolves at the next ring, or a kept one, after `boundMs`, or once `stop` aborts. */
  readonly wait: (boundMs: number, stop: AbortSignal) => Promise<void>
}

/** Makes a bell. It wakes no earlier than `gapMs` after the wait began, however often it is rung, unless stopped. */
export const createBell = (gapMs = 0): Bell => {
  let rung = false
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
    ring: () => {
      rung = true
      wake()
    },
    wait: async (boundMs, stop) => {
      if (gapMs > 0) await sleep(gapMs, stop, () => false)
      await sleep(Math.max(0, boundMs - gapMs), stop, () => rung)
      rung = false
    },
  }
}

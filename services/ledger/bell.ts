/** Wakes the one loop that waits at it. A ring while nobody waits is kept, but only once. */
export type Bell = {
  readonly ring: () => void
  /** Resolves at the next ring, or a kept one, after `boundMs`, or once `stop` aborts. */
  readonly wait: (boundMs: number, stop: AbortSignal) => Promise<void>
}

/** Makes a bell. */
export const createBell = (): Bell => {
  let rung = false
  let wake = () => {}
  return {
    ring: () => {
      rung = true
      wake()
    },
    wait: async (boundMs, stop) => {
      if (!rung && !stop.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const timer = setTimeout(resolve, boundMs)
        stop.addEventListener('abort', wake)
        await promise
        clearTimeout(timer)
        stop.removeEventListener('abort', wake)
      }
      rung = false
    },
  }
}

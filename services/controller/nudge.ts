/** Least time between two looks, however often somebody asks for one. */
const gapMs = 50

/** Lets events ask for a look before its time. */
export type Nudge = {
  /** Asks for a look now. Many asks before it are one. */
  readonly now: () => void
  /** Resolves after `waitMs`, when asked, or when `stop` aborts; not before 50 ms unless stopped. */
  readonly wait: (waitMs: number, stop: AbortSignal) => Promise<void>
}

/** Makes a nudge that nobody has asked of yet. */
export const createNudge = (): Nudge => {
  let asked = false
  let wake = () => {}

  const sleep = async (ms: number, stop: AbortSignal, isOver: () => boolean) => {
    if (stop.aborted || isOver()) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    const onAsk = () => {
      if (isOver()) resolve()
    }
    const onStop = () => resolve()
    wake = onAsk
    stop.addEventListener('abort', onStop)
    await promise
    clearTimeout(timer)
    stop.removeEventListener('abort', onStop)
  }

  return {
    now: () => {
      asked = true
      wake()
    },
    wait: async (waitMs, stop) => {
      await sleep(gapMs, stop, () => false)
      await sleep(Math.max(0, waitMs - gapMs), stop, () => asked)
      asked = false
    },
  }
}

/** A time that passes from event to event. */
export type Timeline = {
  readonly nowMs: () => number
  /** Has something happen at a time, or now where that has passed. */
  readonly at: (atMs: number, run: () => void) => void
  readonly after: (ms: number, run: () => void) => void
  /** Resolves after a time. */
  readonly pass: (ms: number) => Promise<void>
  /** Lets everything happen until then; whoever waits for an event goes on before the next one. */
  readonly run: (untilMs: number) => Promise<void>
}

/** Makes a time that stands at 0. */
export const createTimeline = (): Timeline => {
  let nowMs = 0
  const events: { readonly atMs: number; readonly run: () => void }[] = []

  const placeOf = (atMs: number): number => {
    let low = 0
    let high = events.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((events[middle]?.atMs ?? 0) <= atMs) low = middle + 1
      else high = middle
    }
    return low
  }
  const at: Timeline['at'] = (given, run) => {
    const atMs = Math.max(nowMs, given)
    events.splice(placeOf(atMs), 0, { atMs, run })
  }
  return {
    nowMs: () => nowMs,
    at,
    after: (ms, run) => at(nowMs + ms, run),
    pass: (ms) => new Promise((resolve) => at(nowMs + ms, resolve)),
    run: async (untilMs) => {
      for (;;) {
        await new Promise((wake) => setImmediate(wake))
        const [next] = events
        if (!next || next.atMs > untilMs) break
        events.shift()
        nowMs = next.atMs
        next.run()
      }
      nowMs = untilMs
    },
  }
}

/** Makes what hands things on in their order, each some time later. */
export const createChannel = (time: Timeline, lagMs: () => number) => {
  let lastMs = 0
  return (deliver: () => void): void => {
    lastMs = Math.max(lastMs, time.nowMs() + lagMs())
    time.at(lastMs, deliver)
  }
}

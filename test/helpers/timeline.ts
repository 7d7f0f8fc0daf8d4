/** A discrete-event clock. */
export type Timeline = {
  readonly nowMs: () => number
  /** Schedules an event, for now if `atMs` has passed. */
  readonly at: (atMs: number, run: () => void) => void
  readonly after: (ms: number, run: () => void) => void
  /** Resolves after `ms` of simulated time. */
  readonly pass: (ms: number) => Promise<void>
  /** Runs all events until `untilMs`; code that awaits an event continues before the next one. */
  readonly run: (untilMs: number) => Promise<void>
}

/** Creates a clock at 0. */
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
  const at: Timeline['at'] = (dueMs, run) => {
    const atMs = Math.max(nowMs, dueMs)
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

/** Creates a channel that delivers in order, with a delay. */
export const createChannel = (time: Timeline, lagMs: () => number) => {
  let lastMs = 0
  return (deliver: () => void): void => {
    lastMs = Math.max(lastMs, time.nowMs() + lagMs())
    time.at(lastMs, deliver)
  }
}

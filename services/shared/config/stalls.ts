/** How often a watch looks, and how much later than that it must look for the process to count as stalled, in milliseconds. */
const defaultBounds = { everyMs: 1000, lateMs: 1000 }

/**
 * Measures for how long this process did not run since the watch began: it was frozen, or got no processor. Responses that arrived
 * meanwhile are not read yet when its timers fire, so a deadline that passed then is the process's own fault. Stalls of less than
 * `lateMs` do not count.
 */
export class StallWatch implements Disposable {
  readonly #bounds: typeof defaultBounds
  readonly #timer: NodeJS.Timeout
  #lookedAt = performance.now()
  #stalledMs = 0

  constructor(bounds = defaultBounds) {
    this.#bounds = bounds
    this.#timer = setInterval(() => this.#look(), bounds.everyMs).unref()
  }

  /** The sum of all stalls so far, one that has just ended included; 0 if there was none. */
  get stalledMs(): number {
    this.#look()
    return Math.round(this.#stalledMs)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const { everyMs, lateMs } = this.#bounds
    const now = performance.now()
    const lateByMs = now - this.#lookedAt - everyMs
    if (lateByMs > lateMs) this.#stalledMs += lateByMs
    this.#lookedAt = now
  }
}

/**
 * Calls `end` after `waitMs` in which this process ran: the time of its stalls is added, another `waitMs` at most, so that what arrived
 * during one is read before. Dispose it once nobody waits.
 */
export const startDeadline = (waitMs: number, end: () => void, bounds = defaultBounds): Disposable => {
  const watch = new StallWatch(bounds)
  let addedMs = 0
  const stop = () => {
    clearTimeout(timer)
    watch[Symbol.dispose]()
  }
  const look = () => {
    const moreMs = Math.min(watch.stalledMs, waitMs) - addedMs
    addedMs += moreMs
    if (moreMs > 0) {
      timer = setTimeout(look, moreMs)
      return
    }
    stop()
    end()
  }
  let timer = setTimeout(look, waitMs)
  return { [Symbol.dispose]: stop }
}

/** As `startDeadline`, for what takes a signal, which aborts with an `AbortError`. */
export const startSignalDeadline = (waitMs: number): Disposable & { readonly signal: AbortSignal } => {
  const controller = new AbortController()
  const deadline = startDeadline(waitMs, () => controller.abort())
  return { signal: controller.signal, [Symbol.dispose]: () => deadline[Symbol.dispose]() }
}

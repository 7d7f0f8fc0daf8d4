import { createWakeup, type Wakeup } from './wakeup.ts'

/** Time without activity after which a process rests. */
export const restAfterMs = 60_000
/** At rest intervals are this many times as long, but by that no longer than `restMaxMs`. */
const stretch = 5
/** Longest interval of what is repeated at rest, unless it is longer anyway: who judges others by their reports waits for twice this. */
export const restMaxMs = 30_000
/** Part of an interval at rest that is random: what runs at one time opens as many connections to PostgreSQL, each for seconds only. */
const randomShare = 0.2
/** Activity is reported again while it goes on, well before whoever receives the reports would rest. */
const reportEveryMs = restAfterMs / 3

/**
 * Whether a process rests: for a minute nobody has requested or reported anything. Whatever it repeats takes its pace from here, so
 * that probes, polls and counts slow down together, and are as frequent as before once the rest ends. What may be the only way to
 * learn of accepted work keeps its pace. `nowMs` is a monotonic clock.
 */
export class Rest {
  readonly #nowMs: () => number
  /** For each subscribed wakeup, how long it must have been quiet for. */
  readonly #wakeups = new Map<Pick<Wakeup, 'notify'>, number>()
  readonly #reports = new Set<() => void>()
  #busyAtMs: number
  #reportedAtMs = Number.NEGATIVE_INFINITY

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
    this.#busyAtMs = nowMs()
  }

  /** Records a request, a report or other work. */
  readonly markBusy = (): void => {
    const nowMs = this.#nowMs()
    const quietMs = nowMs - this.#busyAtMs
    this.#busyAtMs = nowMs
    for (const [wakeup, afterMs] of this.#wakeups) if (quietMs >= afterMs) wakeup.notify()
    if (this.#reports.size === 0 || nowMs - this.#reportedAtMs < reportEveryMs) return
    this.#reportedAtMs = nowMs
    for (const report of this.#reports) report()
  }

  /** Milliseconds since the last activity, or since the start. */
  quietMs(): number {
    return this.#nowMs() - this.#busyAtMs
  }

  /** The longest present interval of what is repeated every `everyMs` while the process does not rest. */
  longest(everyMs: number): number {
    return this.quietMs() < restAfterMs ? everyMs : Math.max(everyMs, Math.min(everyMs * stretch, restMaxMs))
  }

  /** The present interval: at rest a little less than the longest one, at random. */
  pace(everyMs: number): number {
    const longestMs = this.longest(everyMs)
    return longestMs === everyMs ? everyMs : longestMs * (1 - randomShare * Math.random())
  }

  /**
   * Waits for the present interval, or until `stop` aborts; from the end of a rest on for no more than `everyMs`, so that whatever
   * ended it need not wait for all that is repeated.
   */
  async wait(everyMs: number, stop: AbortSignal): Promise<void> {
    const wakeup = createWakeup()
    let isOver = false
    const notify = () => {
      isOver = true
      wakeup.notify()
    }
    using _subscription = this.subscribe({ notify })
    await wakeup.wait(this.pace(everyMs), stop)
    if (isOver) await wakeup.wait(everyMs, stop)
  }

  /** Notifies `wakeup` of activity after it was quiet for `afterMs`, until disposed. */
  subscribe(wakeup: Pick<Wakeup, 'notify'>, afterMs = restAfterMs): Disposable {
    this.#wakeups.set(wakeup, afterMs)
    return { [Symbol.dispose]: () => this.#wakeups.delete(wakeup) }
  }

  /** Calls `report` when a rest ends, and every twenty seconds while there is activity. */
  onActivity(report: () => void): void {
    this.#reports.add(report)
  }
}

import type { Activity } from '#gateway/db/activity.ts'
import type { Events } from '#gateway/telemetry/events.ts'

/** Longest time between a response and the write of its activity, unless PostgreSQL is unavailable. */
const writeMs = 1000
/** Activities of one write. */
const batchMax = 500
/** Activities that wait for PostgreSQL; about 5 MB. */
const waitingMax = 10_000

type Dependencies = {
  readonly write: (activities: readonly Activity[]) => Promise<void>
  readonly events: Pick<Events, 'activityRecorded' | 'activityDelayed' | 'activityLost'>
}

/**
 * Writes what requests did in the background, in batches. While PostgreSQL is unavailable, up to 10,000 wait and further ones are
 * lost, which is counted. Disposing it writes those that wait, once.
 */
export class ActivityRecorder implements AsyncDisposable {
  readonly #deps: Dependencies
  #waiting: Activity[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<boolean> | undefined

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  record(activity: Activity): void {
    if (this.#waiting.length >= waitingMax) return this.#deps.events.activityLost(1)
    this.#waiting.push(activity)
    // Once per batch: while writes fail, further activities wait for the timer.
    if (this.#waiting.length === batchMax && !this.#writing) void this.#write()
    else this.#timer ??= setTimeout(() => void this.#write(), writeMs)
  }

  /** Writes one batch, and starts the next one if it is full. Resolves to whether it was written. */
  async #write(): Promise<boolean> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing ??= this.#writeBatch()
    const isWritten = await this.#writing
    this.#writing = undefined
    if (this.#waiting.length === 0) return isWritten
    if (isWritten && this.#waiting.length >= batchMax) void this.#write()
    else this.#timer ??= setTimeout(() => void this.#write(), writeMs)
    return isWritten
  }

  async #writeBatch(): Promise<boolean> {
    const batch = this.#waiting.splice(0, batchMax)
    try {
      await this.#deps.write(batch)
      this.#deps.events.activityRecorded(batch.length)
      return true
    } catch (error) {
      this.#deps.events.activityDelayed(error)
      this.#waiting.unshift(...batch)
      return false
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing
    while (this.#waiting.length > 0 && (await this.#writeBatch()));
    clearTimeout(this.#timer)
    if (this.#waiting.length > 0) this.#deps.events.activityLost(this.#waiting.length)
    this.#waiting = []
  }
}

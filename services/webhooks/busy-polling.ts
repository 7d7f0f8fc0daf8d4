import type { Sql } from '#shared/db/connection.ts'
import { announcePolling } from './db/take-deliveries.ts'

/** Poll interval of a busy sender, in milliseconds. */
export const busyPollMs = 10

/** A sender is busy if it takes so many deliveries within a window. */
const busyDeliveries = 100
const windowMs = 500
/** For how long a busy sender announces that it polls: over the windows until it announces it again, if a round is slow. */
const announcedMs = 1500
/** For how much longer it polls: a commit that did not notify may become visible after the announcement has ended. */
const commitMs = 500

/**
 * Lets a busy sender poll instead of being notified: notifications are sent under one lock, for which all commits that queue
 * deliveries wait. If the sender dies meanwhile, others find what was queued by their rare polls.
 */
export class BusyPolling {
  readonly #database: Sql
  readonly #nowMs: () => number
  #taken = 0
  #windowBeganMs = 0
  #pollingUntilMs = 0

  constructor(database: Sql, nowMs = () => performance.now()) {
    this.#database = database
    this.#nowMs = nowMs
  }

  /** Whether the sender has to poll every `busyPollMs`. */
  readonly isOn = (): boolean => this.#nowMs() < this.#pollingUntilMs

  /** Counts a round's deliveries. `mayBeMore`: it took as many as it can; then other senders are woken, once in a window. */
  async count(taken: number, mayBeMore: boolean): Promise<void> {
    this.#taken += taken
    if (this.#nowMs() - this.#windowBeganMs < windowMs) return
    const isBusy = this.#taken >= busyDeliveries
    this.#taken = 0
    this.#windowBeganMs = this.#nowMs()
    if (!isBusy) return
    await announcePolling(this.#database, announcedMs, mayBeMore)
    this.#pollingUntilMs = this.#nowMs() + announcedMs + commitMs
  }

  /** Leaves the work to other senders, as one that stops or is full: withdraws the announcement, if any, and wakes them. */
  async end(): Promise<void> {
    if (!this.isOn()) return
    this.#pollingUntilMs = 0
    await announcePolling(this.#database, 0, true)
  }
}

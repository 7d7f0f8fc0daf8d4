import { AppError } from '#shared/errors/app-error.ts'
import type { Clock } from './clock.ts'

/**
 * One uninterrupted term of leadership. It expires unless extended, by a clock that advances while the process is frozen, and
 * once ended is never valid again, though the process may win a later term.
 */
export class Term implements Disposable {
  readonly #clock: Clock
  readonly #ended = new AbortController()
  #untilMs: number
  #timer: Disposable

  constructor(clock: Clock, untilMs: number) {
    this.#clock = clock
    this.#untilMs = untilMs
    this.#timer = this.#endInTime()
  }

  /** Aborts when the term is over. In a process that was frozen this is late, unlike `fence`. */
  get signal(): AbortSignal {
    return this.#ended.signal
  }

  /** Whether this process certainly still leads at this moment. */
  isValid(): boolean {
    return !this.#ended.signal.aborted && this.#clock.nowMs() < this.#untilMs
  }

  /** Throws if the term is over. To be called right before each write, as `createKubeApi` does. */
  readonly fence = (): void => {
    if (!this.isValid()) throw new AppError('SERVICE_UNAVAILABLE', { message: 'this process no longer leads' })
  }

  /** Moves the end to `untilMs`; does nothing if the term is over. */
  extend(untilMs: number): void {
    if (!this.isValid()) return
    this.#untilMs = untilMs
    this.#timer[Symbol.dispose]()
    this.#timer = this.#endInTime()
  }

  /** Ends the term now. */
  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]()
    this.#ended.abort()
  }

  #endInTime(): Disposable {
    return this.#clock.after(this.#untilMs - this.#clock.nowMs(), () => this[Symbol.dispose]())
  }
}

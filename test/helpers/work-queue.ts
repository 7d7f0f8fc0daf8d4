import { setTimeout as delay } from 'node:timers/promises'

const retryMs = 50

/**
 * A queue of keys to process: a key waits at most once; a key that is added while it is processed is processed once more
 * afterwards, never concurrently. Failed keys are retried. Dispose waits for running work.
 */
export class WorkQueue implements AsyncDisposable {
  readonly #work: (key: string) => Promise<void>
  readonly #concurrencyMax: number
  /** Keys to process, in order of arrival; those not being processed are the queue. */
  readonly #dirty = new Set<string>()
  readonly #processing = new Map<string, Promise<void>>()
  #isDisposed = false

  constructor(work: (key: string) => Promise<void>, concurrencyMax: number) {
    this.#work = work
    this.#concurrencyMax = concurrencyMax
  }

  add(key: string): void {
    this.#dirty.add(key)
    this.#start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    await Promise.all(this.#processing.values())
  }

  #start() {
    for (const key of this.#dirty) {
      if (this.#isDisposed || this.#processing.size >= this.#concurrencyMax) return
      if (this.#processing.has(key)) continue
      this.#dirty.delete(key)
      this.#processing.set(key, this.#run(key))
    }
  }

  async #run(key: string) {
    try {
      // Never runs synchronously within `add`.
      await Promise.resolve()
      await this.#work(key)
    } catch {
      this.#dirty.add(key)
      await delay(retryMs)
    }
    this.#processing.delete(key)
    this.#start()
  }
}

import { type AppError, toAppError } from '#shared/errors/app-error.ts'
import type { Clock } from '#controller/kube/clock.ts'

/** Dependencies of the queue. */
export type WorkQueueDeps = {
  readonly clock: Clock
  /** Reconciles `key`; a throw is retried. Must end within its own bounds, and soon after `stop`. */
  readonly work: (key: string, stop: AbortSignal) => Promise<void>
  readonly failed: (key: string, error: AppError, retryMs: number) => void
}

/** Concurrency, and the maximum number of keys in the queue. */
export type WorkQueueLimits = { readonly workers: number; readonly keysMax: number }

const firstRetryMs = 5
const lastRetryMs = 300_000

/**
 * A work queue of keys, as in Kubernetes' client-go: a key waits at most once; a key that is added
 * while it is processed is processed once more afterwards, never concurrently. Failed keys are retried after 5 ms,
 * doubled each time up to 5 minutes; a success resets the backoff.
 */
export class WorkQueue implements AsyncDisposable {
  readonly #deps: WorkQueueDeps
  readonly #limits: WorkQueueLimits
  /** Keys to process, in order of arrival; those not being processed are the queue. */
  readonly #dirty = new Set<string>()
  readonly #processing = new Map<string, Promise<void>>()
  readonly #later = new Map<string, { readonly dueMs: number; readonly timer: Disposable }>()
  /** Consecutive failures by key. */
  readonly #failures = new Map<string, number>()
  readonly #stop = new AbortController()

  constructor(deps: WorkQueueDeps, limits: WorkQueueLimits) {
    this.#deps = deps
    this.#limits = limits
  }

  /** Queues a key. Returns false, without queueing it, if the queue is full of other keys or disposed. */
  add(key: string): boolean {
    if (!this.#takes(key)) return false
    this.#addNow(key)
    return true
  }

  /** Adds the key after `waitMs`, or at the earlier time if it is already scheduled. */
  addAfter(key: string, waitMs: number): boolean {
    if (!this.#takes(key)) return false
    const dueMs = this.#deps.clock.nowMs() + waitMs
    const waiting = this.#later.get(key)
    if (waiting && waiting.dueMs <= dueMs) return true
    waiting?.timer[Symbol.dispose]()
    const due = () => {
      this.#later.delete(key)
      this.#addNow(key)
    }
    this.#later.set(key, { dueMs, timer: this.#deps.clock.after(waitMs, due) })
    return true
  }

  /** Stops processing, and resolves once all running work has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    for (const { timer } of this.#later.values()) timer[Symbol.dispose]()
    await Promise.all(this.#processing.values())
  }

  #takes(key: string): boolean {
    if (this.#stop.signal.aborted) return false
    const known = [this.#dirty, this.#processing, this.#later]
    if (known.some((keys) => keys.has(key))) return true
    return known.reduce((total, { size }) => total + size, 0) < this.#limits.keysMax
  }

  #addNow(key: string) {
    this.#dirty.add(key)
    this.#start()
  }

  #start() {
    for (const key of this.#dirty) {
      if (this.#stop.signal.aborted || this.#processing.size >= this.#limits.workers) return
      if (this.#processing.has(key)) continue
      this.#dirty.delete(key)
      this.#processing.set(key, this.#run(key))
    }
  }

  async #run(key: string) {
    try {
      // Never runs synchronously within `add`.
      await Promise.resolve()
      await this.#deps.work(key, this.#stop.signal)
      this.#failures.delete(key)
    } catch (thrown) {
      this.#retry(key, toAppError(thrown))
    }
    this.#processing.delete(key)
    this.#start()
  }

  #retry(key: string, error: AppError) {
    const times = this.#failures.get(key) ?? 0
    this.#failures.set(key, times + 1)
    const retryMs = Math.min(lastRetryMs, firstRetryMs * 2 ** times)
    this.addAfter(key, retryMs)
    this.#deps.failed(key, error, retryMs)
  }
}

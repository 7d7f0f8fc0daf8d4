import { type AppError, toAppError } from '#shared/errors/app-error.ts'
import { apply } from '#controller/kube/apply.ts'
import { type BrowserPool, browserPools, type BrowserPoolStatus } from '#shared/kube/browser-pool.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { createThrottle } from '#controller/kube/throttle.ts'
import { backOffMs } from '#shared/policy/back-off.ts'
import { createMutationCache } from '#controller/operator/watch/mutation-cache.ts'
import type { ComposeStatus } from './conditions.ts'
import { occurrencesOf, type PoolOccurrence, statusChange } from './status-change.ts'

type StatusWriterDeps = {
  readonly api: Pick<KubeApi, 'patch'>
  readonly clock: Clock
  readonly instance: string
  /** Called with each event of a status change, once the status is written. */
  readonly occurred: (pool: BrowserPool, occurrence: PoolOccurrence) => void
  /** Called with each status, whether it is written or not, and with undefined once the pool is removed. */
  readonly reported: (pool: BrowserPool, status: BrowserPoolStatus | undefined) => void
  readonly failed: (pool: string, error: AppError) => void
}

/** Least time between two writes of one pool's conditions: at its maximum a pool may change them at every tick. */
const conditionsMs = 1000
/** Least time between two writes of one pool's numbers. */
const numbersMs = 5000
/** Least time between two writes of numbers, all pools together. */
const gapMs = 500
const retries = { firstMs: 1000, lastMs: 60_000 }

const never = Number.NEGATIVE_INFINITY
const initial = { writtenMs: never, conditionsMs: never, failures: 0, notBeforeMs: never }

/** The newest status of a pool, and the state of its writes. */
type Entry = {
  pool: BrowserPool
  status: BrowserPoolStatus
  change: ReturnType<typeof statusChange>
  writtenMs: number
  /** When conditions were written last, and the timer of a change that came too soon after that. */
  conditionsMs: number
  later?: Disposable | undefined
  /** Consecutive failed writes, and the time before which there is no further one. */
  failures: number
  notBeforeMs: number
  writing?: Promise<void> | undefined
}

/**
 * Writes the status of pools: changed conditions at once, at most once a second for each pool; changed numbers at most every
 * 5 s for each pool and twice a second for all. Writes nothing unchanged, and nothing while the server throttles.
 */
export class StatusWriter implements AsyncDisposable {
  readonly #deps: StatusWriterDeps
  readonly #entries = new Map<string, Entry>()
  readonly #written
  readonly #throttle
  readonly #stop = new AbortController()
  #gapUntilMs = Number.NEGATIVE_INFINITY
  #timer: Disposable | undefined

  constructor(deps: StatusWriterDeps) {
    this.#deps = deps
    this.#written = createMutationCache<BrowserPoolStatus>(deps.clock)
    this.#throttle = createThrottle(deps.clock.nowMs)
  }

  /** Replaces the status to write for a pool. Does nothing once disposed. */
  write(pool: BrowserPool, compose: ComposeStatus): void {
    if (this.#stop.signal.aborted) return
    const { uid } = pool.metadata
    const { clock, instance } = this.#deps
    const status = compose({ pool: this.#withLatestStatus(pool), instance, at: clock.date() })
    this.#deps.reported(pool, status)
    const entry: Entry = Object.assign(this.#entries.get(uid) ?? { ...initial }, {
      pool,
      status,
      change: 'nothing' as const,
    })
    this.#entries.set(uid, entry)
    this.#flush(entry)
  }

  /** Removes all pools except these, by uid. */
  keep(uids: ReadonlySet<string>): void {
    for (const [uid, { pool, later }] of this.#entries) {
      if (uids.has(uid)) continue
      later?.[Symbol.dispose]()
      this.#entries.delete(uid)
      this.#written.forget(uid)
      this.#deps.reported(pool, undefined)
    }
  }

  /** Stops writing, and waits for the writes in flight. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#timer?.[Symbol.dispose]()
    await Promise.all([...this.#entries.values()].flatMap(({ writing }) => writing ?? []))
    this.keep(new Set())
  }

  /** The pool with its newest status, including writes that the informer does not show yet. */
  #withLatestStatus(pool: BrowserPool): BrowserPool {
    const status = this.#written.newerThan(pool.metadata.uid, pool.metadata.resourceVersion)
    return status ? { ...pool, status } : pool
  }

  /** Writes a changed status as soon as the rate limits allow. */
  #flush(entry: Entry) {
    entry.change = statusChange(this.#withLatestStatus(entry.pool).status, entry.status)
    if (entry.change === 'conditions' && !entry.writing) this.#writeConditions(entry)
    if (entry.change === 'numbers') this.#writeNumbers()
  }

  #writeConditions(entry: Entry) {
    const { clock } = this.#deps
    const nowMs = clock.nowMs()
    if (this.#throttle.isActive() || nowMs < entry.notBeforeMs) return
    const waitMs = entry.conditionsMs + conditionsMs - nowMs
    if (waitMs <= 0) {
      entry.conditionsMs = nowMs
      this.#begin(entry)
      return
    }
    entry.later ??= clock.after(waitMs, () => {
      entry.later = undefined
      if (!this.#stop.signal.aborted) this.#flush(entry)
    })
  }

  /** Writes the numbers of the pool that waits longest, and sets a timer for the others. */
  #writeNumbers() {
    if (this.#timer || this.#stop.signal.aborted || this.#throttle.isActive()) return
    const nowMs = this.#deps.clock.nowMs()
    const due = [...this.#entries.values()].filter(
      ({ change, writing, writtenMs, notBeforeMs }) =>
        change === 'numbers' && !writing && nowMs >= writtenMs + numbersMs && nowMs >= notBeforeMs,
    )
    if (due.length === 0) return
    if (nowMs < this.#gapUntilMs) {
      this.#timer = this.#deps.clock.after(this.#gapUntilMs - nowMs, () => {
        this.#timer = undefined
        this.#writeNumbers()
      })
      return
    }
    const longest = due.reduce((one, other) => (other.writtenMs < one.writtenMs ? other : one))
    this.#gapUntilMs = nowMs + gapMs
    this.#begin(longest)
    this.#writeNumbers()
  }

  #begin(entry: Entry) {
    entry.writing = this.#write(entry).finally(() => {
      entry.writing = undefined
    })
  }

  async #write(entry: Entry) {
    const { api, clock, occurred, failed } = this.#deps
    const { pool, status } = entry
    const { name, namespace, uid } = pool.metadata
    const before = this.#withLatestStatus(pool).status
    const ref = { resource: browserPools, namespace, name, subresource: 'status' } as const
    entry.change = 'nothing'
    entry.writtenMs = clock.nowMs()
    try {
      const { metadata } = await apply<BrowserPool>(api, ref, { status }, { signal: this.#stop.signal })
      this.#written.remember(uid, metadata.resourceVersion, status)
      entry.failures = 0
      for (const occurrence of occurrencesOf(before, status)) occurred(pool, occurrence)
    } catch (thrown) {
      this.#throttle.observe(thrown)
      entry.notBeforeMs = clock.nowMs() + backOffMs(retries, entry.failures)
      entry.failures += 1
      if (outcomeOf(thrown) !== 'not-found' && !this.#stop.signal.aborted) failed(name, toAppError(thrown))
    }
  }
}

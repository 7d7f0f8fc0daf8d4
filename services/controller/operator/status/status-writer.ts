import { type AppError, toAppError } from '#shared/errors/app-error.ts'
import { apply } from '#shared/kube/apply.ts'
import { type BrowserPool, browserPools, type BrowserPoolStatus } from '#shared/kube/browser-pool.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#shared/kube/clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { createQuiet } from '#shared/kube/quiet.ts'
import { createOwnWrites } from '#controller/operator/watch/mutation-cache.ts'
import { occurrencesOf, type PoolOccurrence, statusChange } from './status-change.ts'

/** What a writer of statuses works with. */
export type StatusWriterDeps = {
  readonly api: Pick<KubeApi, 'patch'>
  readonly clock: Clock
  /** Hears what a change of what is said means, once it is written. */
  readonly occurred: (pool: BrowserPool, occurrence: PoolOccurrence) => void
  /** Hears each word, whether it is written or not, and when nothing is said of a pool any more. */
  readonly said: (pool: BrowserPool, status: BrowserPoolStatus | undefined) => void
  readonly failed: (pool: string, error: AppError) => void
}

/** What holds of one pool is written no more often, in milliseconds: a pool at its maximum may turn at every tick. */
const turnsMs = 1000
/** Numbers of one pool are written no more often, in milliseconds. */
const numbersMs = 5000
/** Time between two writes of numbers, whatever pool they are of. */
const gapMs = 500
/** Wait after a write that failed, doubled with each further failure. */
const firstRetryMs = 1000
const lastRetryMs = 60_000

const never = Number.NEGATIVE_INFINITY
const blank = { writtenMs: never, turnedMs: never, failures: 0, notBeforeMs: never }

/** The newest that is to be said of a pool. */
type Page = {
  pool: BrowserPool
  status: BrowserPoolStatus
  change: ReturnType<typeof statusChange>
  writtenMs: number
  /** When what holds was written last, and what comes back to it where it has turned too soon since. */
  turnedMs: number
  later?: Disposable | undefined
  /** Writes in a row that failed, and the time before which there is no other. */
  failures: number
  notBeforeMs: number
  writing?: Promise<void> | undefined
}

/**
 * Says of pools what holds of them. What holds is written at once, where it turns again a second after; numbers at most every
 * 5 s for each pool and twice a second for all. What is said already is not written, and nothing when the server asks for quiet.
 */
export class StatusWriter implements AsyncDisposable {
  readonly #deps: StatusWriterDeps
  readonly #pages = new Map<string, Page>()
  readonly #own
  readonly #quiet
  readonly #stop = new AbortController()
  #gapUntilMs = Number.NEGATIVE_INFINITY
  #timer: Disposable | undefined

  constructor(deps: StatusWriterDeps) {
    this.#deps = deps
    this.#own = createOwnWrites<BrowserPoolStatus>(deps.clock)
    this.#quiet = createQuiet(deps.clock.nowMs)
  }

  /** A pool with what is said of it, own words that its copy does not show yet included. */
  withSaid(pool: BrowserPool): BrowserPool {
    const status = this.#own.newerThan(pool.metadata.uid, pool.metadata.resourceVersion)
    return status ? { ...pool, status } : pool
  }

  /** Has this said of a pool, in the place of what was to be said before. Does nothing once disposed. */
  say(pool: BrowserPool, status: BrowserPoolStatus): void {
    if (this.#stop.signal.aborted) return
    const { uid } = pool.metadata
    this.#deps.said(pool, status)
    const page: Page = Object.assign(this.#pages.get(uid) ?? { ...blank }, { pool, status, change: 'nothing' as const })
    this.#pages.set(uid, page)
    this.#look(page)
  }

  /** Forgets all pools but these, by uid. */
  keep(uids: ReadonlySet<string>): void {
    for (const [uid, { pool, later }] of this.#pages) {
      if (uids.has(uid)) continue
      later?.[Symbol.dispose]()
      this.#pages.delete(uid)
      this.#own.forget(uid)
      this.#deps.said(pool, undefined)
    }
  }

  /** Resolves once nothing is on its way any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#timer?.[Symbol.dispose]()
    await Promise.all([...this.#pages.values()].flatMap(({ writing }) => writing ?? []))
    this.keep(new Set())
  }

  /** Has written what differs from what is said, when it may be. */
  #look(page: Page) {
    page.change = statusChange(this.withSaid(page.pool).status, page.status)
    if (page.change === 'conditions' && !page.writing) this.#sayTurn(page)
    if (page.change === 'numbers') this.#sayNumbers()
  }

  #sayTurn(page: Page) {
    const { clock } = this.#deps
    const nowMs = clock.nowMs()
    if (this.#quiet.isAsked() || nowMs < page.notBeforeMs) return
    const waitMs = page.turnedMs + turnsMs - nowMs
    if (waitMs <= 0) {
      page.turnedMs = nowMs
      this.#begin(page)
      return
    }
    page.later ??= clock.after(waitMs, () => {
      page.later = undefined
      if (!this.#stop.signal.aborted) this.#look(page)
    })
  }

  /** Writes the numbers of whoever waits longest, and comes back for the others. */
  #sayNumbers() {
    if (this.#timer || this.#stop.signal.aborted || this.#quiet.isAsked()) return
    const nowMs = this.#deps.clock.nowMs()
    const due = [...this.#pages.values()].filter(
      ({ change, writing, writtenMs, notBeforeMs }) =>
        change === 'numbers' && !writing && nowMs >= writtenMs + numbersMs && nowMs >= notBeforeMs,
    )
    if (due.length === 0) return
    if (nowMs < this.#gapUntilMs) {
      this.#timer = this.#deps.clock.after(this.#gapUntilMs - nowMs, () => {
        this.#timer = undefined
        this.#sayNumbers()
      })
      return
    }
    const longest = due.reduce((one, other) => (other.writtenMs < one.writtenMs ? other : one))
    this.#gapUntilMs = nowMs + gapMs
    this.#begin(longest)
    this.#sayNumbers()
  }

  #begin(page: Page) {
    page.writing = this.#write(page).finally(() => {
      page.writing = undefined
    })
  }

  async #write(page: Page) {
    const { api, clock, occurred, failed } = this.#deps
    const { pool, status } = page
    const { name, namespace, uid } = pool.metadata
    const before = this.withSaid(pool).status
    const ref = { resource: browserPools, namespace, name, subresource: 'status' } as const
    page.change = 'nothing'
    page.writtenMs = clock.nowMs()
    try {
      const { metadata } = await apply<BrowserPool>(api, ref, { status }, this.#stop.signal)
      this.#own.remember(uid, metadata.resourceVersion, status)
      page.failures = 0
      for (const occurrence of occurrencesOf(before, status)) occurred(pool, occurrence)
    } catch (thrown) {
      this.#quiet.heed(thrown)
      page.notBeforeMs = clock.nowMs() + Math.min(lastRetryMs, firstRetryMs * 2 ** page.failures)
      page.failures += 1
      if (outcomeOf(thrown) !== 'not-found' && !this.#stop.signal.aborted) failed(name, toAppError(thrown))
    }
  }
}

import { toAppError } from '#shared/errors/app-error.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import { objectName } from '#shared/kube/names.ts'
import { type Wakeup, createWakeup } from '#shared/process/wakeup.ts'
import type { PoolRun, RunPool, TermDeps } from './pool-runner.ts'

/** Of what the runners share, the loops themselves use a clock and events. */
type PoolLoopsDeps<Term> = {
  readonly term: Term
  readonly runners: Readonly<Record<Pool, RunPool<Term>>>
}

type Loop = {
  readonly label: string
  pool: BrowserPool
  lastTickMs: number
  readonly wakeup: Wakeup
  readonly stop: AbortController
}

/** Minimum milliseconds between two reconciliations of a pool, however often it is woken. */
const gapMs = 50

/** The reconciliation loops of one term, one per pool. */
export class PoolLoops<Term extends Pick<TermDeps, 'clock' | 'events'>> implements AsyncDisposable {
  readonly #deps: PoolLoopsDeps<Term>
  readonly #loops = new Map<string, Loop>()
  readonly #running = new Set<Promise<void>>()

  constructor(deps: PoolLoopsDeps<Term>) {
    this.#deps = deps
  }

  /** Number of running loops. */
  get size(): number {
    return this.#loops.size
  }

  /** The pools with a running loop. */
  pools(): readonly BrowserPool[] {
    return [...this.#loops.values()].map(({ pool }) => pool)
  }

  /** Milliseconds since the last tick of the loop that has been stalled longest; 0 without loops. */
  stalledMs(): number {
    const nowMs = this.#deps.term.clock.nowMs()
    return Math.max(0, ...[...this.#loops.values()].map(({ lastTickMs }) => nowMs - lastTickMs))
  }

  /** Runs the loops of exactly these pools; running loops get the new version of their pool. */
  run(pools: readonly BrowserPool[]): void {
    const wanted = new Set(pools.map(({ metadata }) => metadata.uid))
    for (const [uid, { stop }] of this.#loops) {
      if (wanted.has(uid)) continue
      stop.abort()
      this.#loops.delete(uid)
    }
    for (const pool of pools) {
      const loop = this.#loops.get(pool.metadata.uid)
      if (loop) loop.pool = pool
      else this.#begin(pool)
    }
  }

  /** Wakes the loop of the pool with this label. */
  wake(label: string): void {
    for (const loop of this.#loops.values()) if (loop.label === label) loop.wakeup.notify()
  }

  /** Wakes the loops of all pools of a kind. */
  wakeKind(kind: Pool): void {
    for (const { pool, wakeup } of this.#loops.values()) if (pool.spec.pool === kind) wakeup.notify()
  }

  /** Stops all loops, and waits for their requests in flight. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.run([])
    await Promise.all(this.#running)
  }

  #begin(pool: BrowserPool) {
    const { uid, name } = pool.metadata
    const { clock } = this.#deps.term
    const stop = new AbortController()
    const loop = { label: objectName(name), pool, lastTickMs: clock.nowMs(), wakeup: createWakeup(gapMs), stop }
    this.#loops.set(uid, loop)
    const running = this.#reconcile(loop)
    this.#running.add(running)
    void running.finally(() => this.#running.delete(running))
  }

  async #reconcile(loop: Loop) {
    const { term, runners } = this.#deps
    const { metadata, spec } = loop.pool
    using events = term.events.of({ queue: spec.pool, browserpool: metadata.name })
    const run: PoolRun = {
      pool: () => loop.pool,
      wakeup: loop.wakeup,
      events: {
        ...events,
        reconciled: (ms) => {
          loop.lastTickMs = term.clock.nowMs()
          events.reconciled(ms)
        },
      },
    }
    try {
      await runners[spec.pool](term, run, loop.stop.signal)
    } catch (thrown) {
      events.tickFailed(toAppError(thrown))
    }
  }
}

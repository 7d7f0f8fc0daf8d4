import { type LoopTiming, runLoop, type Workload } from '#controller/loop/loop.ts'
import type { ControllerEvents, PoolEvents } from '#controller/telemetry/events.ts'
import type { PoolLabels } from '#controller/telemetry/pool-metrics.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import { type Wakeup, createWakeup } from '#shared/process/wakeup.ts'

/** A pool by the name of its workers' objects and the labels of its metrics, and the least milliseconds between two of its ticks, however often its loop is woken. */
type PoolIdentity = { readonly name: string; readonly labels: PoolLabels; readonly gapMs: number }

/** The loop of one pool, as its reconciler uses it. */
export type PoolLoop<Pool, Status> = Pick<PoolIdentity, 'name' | 'labels'> & {
  /** The newest version of the pool. */
  readonly pool: () => Pool
  readonly events: PoolEvents
  readonly wakeup: Pick<Wakeup, 'notify'>
  readonly stop: AbortSignal
  /** Runs the pool's workload until `stop` aborts. */
  readonly run: <Observed, Decision>(workload: Workload<Observed, Decision, Status>) => Promise<void>
}

/** Opens what the workload of a pool needs, runs it, and closes everything again. */
export type Reconciler<Pool, Status> = (loop: PoolLoop<Pool, Status>) => Promise<void>

type PoolLoopsDeps<Pool, Status> = {
  readonly now: () => number
  readonly timing: LoopTiming
  readonly events: Pick<ControllerEvents, 'forPool'>
  /** What two versions of a pool have in common. */
  readonly keyOf: (pool: Pool) => unknown
  readonly identify: (pool: Pool) => PoolIdentity
  readonly reconcile: Reconciler<Pool, Status>
  /** Called with the status after each tick that did not fail. */
  readonly report: (pool: Pool, status: Status) => void
}

type Running<Pool> = PoolIdentity & {
  pool: Pool
  lastTickMs: number
  readonly wakeup: Wakeup
  readonly stop: AbortController
}

/** A loop without a completed tick for this long is stalled. */
const stalledAfterMs = 30_000

/** Runs a loop for each pool, whatever runs its workers. Dispose stops all loops, and waits for what they have in flight. */
export class PoolLoops<Pool, Status> implements AsyncDisposable {
  readonly #deps: PoolLoopsDeps<Pool, Status>
  readonly #loops = new Map<unknown, Running<Pool>>()
  readonly #running = new Set<Promise<void>>()

  constructor(deps: PoolLoopsDeps<Pool, Status>) {
    this.#deps = deps
  }

  /** The pools with a running loop. */
  pools(): readonly Pool[] {
    return [...this.#loops.values()].map(({ pool }) => pool)
  }

  /** Whether a loop has not completed a tick for 30 s. */
  isStalled(): boolean {
    const nowMs = this.#deps.now()
    return [...this.#loops.values()].some(({ lastTickMs }) => nowMs - lastTickMs >= stalledAfterMs)
  }

  /** Runs the loops of exactly these pools; running loops get the new version of their pool. */
  run(pools: readonly Pool[]): void {
    const desiredPools = new Map(pools.map((pool) => [this.#deps.keyOf(pool), pool]))
    for (const [key, { stop }] of this.#loops) {
      if (desiredPools.has(key)) continue
      stop.abort()
      this.#loops.delete(key)
    }
    for (const [key, pool] of desiredPools) {
      const loop = this.#loops.get(key)
      if (loop) loop.pool = pool
      else this.#begin(key, pool)
    }
  }

  /** Wakes the loops of these pools. */
  wake(isMeant: (pool: PoolIdentity) => boolean): void {
    for (const loop of this.#loops.values()) if (isMeant(loop)) loop.wakeup.notify()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.run([])
    await Promise.all(this.#running)
  }

  #begin(key: unknown, pool: Pool) {
    const identity = this.#deps.identify(pool)
    const wakeup = createWakeup(identity.gapMs)
    const loop = { ...identity, pool, lastTickMs: this.#deps.now(), wakeup, stop: new AbortController() }
    this.#loops.set(key, loop)
    const running = this.#reconcile(loop)
    this.#running.add(running)
    void running.finally(() => this.#running.delete(running))
  }

  async #reconcile(loop: Running<Pool>) {
    const { now, timing, reconcile, report } = this.#deps
    const { name, labels, wakeup } = loop
    const stop = loop.stop.signal
    using events = this.#deps.events.forPool(labels)
    const runDeps = {
      wakeup,
      timing,
      report: (status: Status) => report(loop.pool, status),
      failed: events.tickFailed,
      took: (ms: number) => {
        loop.lastTickMs = now()
        events.reconciled(ms)
      },
    }
    try {
      await reconcile({
        name,
        labels,
        pool: () => loop.pool,
        events,
        wakeup,
        stop,
        run: (workload) => runLoop(workload, runDeps, stop),
      })
    } catch (thrown) {
      events.tickFailed(toAppError(thrown))
    }
  }
}

import { AppError, toAppError } from '#shared/errors/app-error.ts'
import type { Wakeup } from '#shared/process/wakeup.ts'
import { within } from '#shared/process/within.ts'

/** Observation and decision of one tick. */
export type Tick<Observed, Decision> = { readonly observation: Observed; readonly decision: Decision }

/**
 * `observe` returns what it cannot read as unknown; `decide` keeps its state between calls; `act` is idempotent; every tick
 * calls `decided`, `failed` or both.
 */
export type LoopDeps<Observed, Decision> = {
  readonly observe: () => Promise<Observed>
  readonly decide: (observation: Observed) => Decision
  readonly act: (decision: Decision) => Promise<void>
  readonly wakeup: Wakeup
  readonly decided: (tick: Tick<Observed, Decision>) => void
  readonly failed: (error: AppError) => void
  /** Called with the duration of each tick in milliseconds, failed ticks included. */
  readonly took?: (ms: number) => void
}

const limited = <T>(work: Promise<T>, limitMs: number): Promise<T> =>
  within(work, limitMs, () => new AppError('SERVICE_UNAVAILABLE', { message: `a tick took longer than ${limitMs} ms` }))

const calmTicks = 3
const calmMaxMs = 5000

/**
 * Milliseconds between two ticks of a steady, idle pool: every change wakes the loop, so a tick only finds missing heartbeats
 * and lost messages. At most 5 s unless `tickMs` is longer, because a loop without a tick for 30 s counts as stalled.
 */
export const calmMs = (tickMs: number): number => Math.max(tickMs, Math.min(tickMs * calmTicks, calmMaxMs))

/** The timing of a loop that ticks less often while `isCalm`. */
export const calmTiming = ({ tickMs, limitMs }: LoopTiming, isCalm: () => boolean): LoopTiming => ({
  limitMs,
  get tickMs() {
    return isCalm() ? calmMs(tickMs) : tickMs
  },
})

/** Milliseconds between two ticks, read after each tick, and the longest milliseconds of one step of a tick. */
export type LoopTiming = { readonly tickMs: number; readonly limitMs: number }

/**
 * Observes, decides and acts, one tick at a time, every `tickMs` and on wakeup, until `stop` aborts. A step longer than `limitMs`
 * is abandoned and retried by the next tick, because acting is idempotent.
 */
export const runLoop = async <Observed, Decision>(
  deps: LoopDeps<Observed, Decision>,
  timing: LoopTiming,
  stop: AbortSignal,
): Promise<void> => {
  const { limitMs } = timing
  while (!stop.aborted) {
    const began = performance.now()
    try {
      const observation = await limited(deps.observe(), limitMs)
      if (stop.aborted) return
      const decision = deps.decide(observation)
      deps.decided({ observation, decision })
      await limited(deps.act(decision), limitMs)
    } catch (thrown) {
      deps.failed(toAppError(thrown))
    }
    deps.took?.(performance.now() - began)
    await deps.wakeup.wait(timing.tickMs, stop)
  }
}

import { AppError, toAppError } from '#shared/errors/app-error.ts'
import type { Wakeup } from '#shared/process/wakeup.ts'
import { within } from '#shared/process/within.ts'

/** Observation and decision of one tick. */
export type Tick<Seen, Decision> = { readonly seen: Seen; readonly decision: Decision }

/**
 * `observe` answers what is unknown as unknown; `decide` remembers what it needs from one call to the next; `act` is idempotent;
 * every tick ends with `decided`, `failed` or both.
 */
export type LoopDeps<Seen, Decision> = {
  readonly observe: () => Promise<Seen>
  readonly decide: (seen: Seen) => Decision
  readonly act: (decision: Decision) => Promise<void>
  readonly wakeup: Wakeup
  readonly decided: (tick: Tick<Seen, Decision>) => void
  readonly failed: (error: AppError) => void
  /** Takes how long the tick took, in milliseconds, whatever came of it. */
  readonly took?: (ms: number) => void
}

const limited = <T>(work: Promise<T>, limitMs: number): Promise<T> =>
  within(work, limitMs, () => new AppError('SERVICE_UNAVAILABLE', { message: `a tick took longer than ${limitMs} ms` }))

const calmTicks = 3
const calmMaxMs = 5000

/**
 * Time between two ticks of a pool that is as it should be and has nothing to do: every change wakes the loop, only missing
 * heartbeats and lost messages are found by a tick. Long ticks are not made longer: a loop without one for half a minute
 * counts as stalled.
 */
export const calmMs = (tickMs: number): number => Math.max(tickMs, Math.min(tickMs * calmTicks, calmMaxMs))

/** The timing of a loop that ticks less often while `isCalm`. */
export const calmTiming = ({ tickMs, limitMs }: LoopTiming, isCalm: () => boolean): LoopTiming => ({
  limitMs,
  get tickMs() {
    return isCalm() ? calmMs(tickMs) : tickMs
  },
})

/** Time from one tick to the next, read after each, and the longest time of one step of a tick, both in milliseconds. */
export type LoopTiming = { readonly tickMs: number; readonly limitMs: number }

/**
 * Observes, decides and acts, one tick at a time, every `tickMs` and when the wakeup rings, until `stop` aborts. What hangs longer
 * than `limitMs` is given up, and done again by the next tick: acting is idempotent.
 */
export const runLoop = async <Seen, Decision>(
  deps: LoopDeps<Seen, Decision>,
  timing: LoopTiming,
  stop: AbortSignal,
): Promise<void> => {
  const { limitMs } = timing
  while (!stop.aborted) {
    const began = performance.now()
    try {
      const seen = await limited(deps.observe(), limitMs)
      if (stop.aborted) return
      const decision = deps.decide(seen)
      deps.decided({ seen, decision })
      await limited(deps.act(decision), limitMs)
    } catch (thrown) {
      deps.failed(toAppError(thrown))
    }
    deps.took?.(performance.now() - began)
    await deps.wakeup.wait(timing.tickMs, stop)
  }
}

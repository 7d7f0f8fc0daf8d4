import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { decide } from './decide.ts'
import type { Bell } from '#shared/process/bell.ts'
import { within } from '#shared/process/within.ts'
import type { Observer } from './observe.ts'
import { blankMemory, type Decision, type Observation, type PoolPolicy } from './pool.ts'

/** What one tick saw and decided. */
export type Tick = { readonly seen: Observation; readonly decision: Decision }

/** What the loop works with; `decided` and `failed` hear of every tick's end. */
export type LoopDeps = {
  readonly observer: Pick<Observer, 'observe'>
  readonly act: (decision: Decision) => Promise<void>
  readonly bell: Bell
  readonly decided: (tick: Tick) => void
  readonly failed: (error: AppError) => void
}

const limited = <T>(work: Promise<T>, limitMs: number): Promise<T> =>
  within(work, limitMs, () => new AppError('SERVICE_UNAVAILABLE', { message: `a tick took longer than ${limitMs} ms` }))

/** Time from one tick to the next, and the longest time of one step of a tick, both in milliseconds. */
export type LoopTiming = { readonly tickMs: number; readonly limitMs: number }

/**
 * Observes, decides and acts, one tick at a time, every `tickMs` and when the bell rings, until `stop` aborts. What hangs longer
 * than `limitMs` is given up, and done again by the next tick: acting is idempotent.
 */
export const runLoop = async (
  deps: LoopDeps,
  policy: PoolPolicy,
  { tickMs, limitMs }: LoopTiming,
  stop: AbortSignal,
): Promise<void> => {
  let memory = blankMemory
  while (!stop.aborted) {
    try {
      const seen = await limited(deps.observer.observe(), limitMs)
      if (stop.aborted) return
      const next = decide(seen, policy, memory)
      memory = next.memory
      deps.decided({ seen, decision: next.decision })
      await limited(deps.act(next.decision), limitMs)
    } catch (thrown) {
      deps.failed(toAppError(thrown))
    }
    await deps.bell.wait(tickMs, stop)
  }
}

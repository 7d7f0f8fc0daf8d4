import type { Decide } from '#controller/decide/pool.ts'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { Rest } from '#shared/process/rest.ts'
import type { Wakeup } from '#shared/process/wakeup.ts'
import { within } from '#shared/process/within.ts'

/** Observation and decision of one tick. */
export type Tick<Observed, Decision> = { readonly observation: Observed; readonly decision: Decision }

/** Status after a tick. While calm, a workload has nothing to do until a change wakes its loop. */
export type Summary<Status> = { readonly status: Status; readonly isCalm: boolean }

/**
 * What a loop keeps as it should be. `observe` returns what it cannot read as unknown; `decide` keeps its state between calls;
 * `summarize` logs and counts a tick before it is acted on; `act` is idempotent.
 */
export type Workload<Observed, Decision, Status> = {
  readonly observe: () => Promise<Observed>
  readonly decide: (observation: Observed) => Decision
  readonly summarize: (tick: Tick<Observed, Decision>) => Summary<Status>
  readonly act: (tick: Tick<Observed, Decision>) => Promise<void>
}

/** Milliseconds between two ticks, and the longest milliseconds of one step of a tick. */
export type LoopTiming = { readonly tickMs: number; readonly limitMs: number }

/** Every tick calls `report`, `failed` or both, and then `took` with its duration in milliseconds. */
export type LoopDeps<Status> = {
  readonly wakeup: Pick<Wakeup, 'wait'>
  readonly timing: LoopTiming
  readonly report: (status: Status) => void
  readonly failed: (error: AppError) => void
  readonly took: (ms: number) => void
}

const limited = <T>(work: Promise<T>, limitMs: number): Promise<T> =>
  within(work, limitMs, () => new AppError('SERVICE_UNAVAILABLE', { message: `a tick took longer than ${limitMs} ms` }))

const calmTicks = 3
const calmMaxMs = 5000
const restTickMs = 15_000

/**
 * Milliseconds between two ticks of a calm workload: every change wakes the loop, so a tick only finds missing heartbeats and lost
 * messages. At most 5 s, at rest 15 s, unless `tickMs` is longer, because a loop without a tick for 30 s counts as stalled.
 */
export const calmMs = (tickMs: number, rest: Pick<Rest, 'longest'>): number => {
  const calm = Math.max(tickMs, Math.min(tickMs * calmTicks, calmMaxMs))
  return Math.max(calm, Math.min(rest.longest(calm), restTickMs))
}

/**
 * Observes, decides and acts, one tick at a time, every `tickMs`, less often while calm, still less at rest, and on wakeup, until `stop` aborts. A
 * step longer than `limitMs` is abandoned and retried by the next tick, because acting is idempotent.
 */
export const runLoop = async <Observed, Decision, Status>(
  workload: Workload<Observed, Decision, Status>,
  deps: LoopDeps<Status>,
  stop: AbortSignal,
): Promise<void> => {
  const { tickMs, limitMs } = deps.timing
  const rest = new Rest()
  let isCalm = false
  while (!stop.aborted) {
    const began = performance.now()
    try {
      const observation = await limited(workload.observe(), limitMs)
      if (stop.aborted) return
      const tick = { observation, decision: workload.decide(observation) }
      const summary = workload.summarize(tick)
      isCalm = summary.isCalm
      deps.report(summary.status)
      await limited(workload.act(tick), limitMs)
    } catch (thrown) {
      deps.failed(toAppError(thrown))
    }
    deps.took(performance.now() - began)
    if (!isCalm) rest.markBusy()
    await deps.wakeup.wait(isCalm ? calmMs(tickMs, rest) : tickMs, stop)
  }
}

/** Returns a function that decides by the current policy and keeps the memory between calls. */
export const createDecider = <Observed, Policy, Memory, Decision>(
  decide: Decide<Observed, Policy, Memory, Decision>,
  policy: () => Policy,
  blank: Memory,
): ((observation: Observed) => Decision) => {
  let memory = blank
  return (observation) => {
    const next = decide(observation, policy(), memory)
    memory = next.memory
    return next.decision
  }
}

import type { WorkerNotice } from '#controller/act/actuator.ts'
import { createLocalProcesses } from '#controller/act/local-processes.ts'
import { applyDecision } from './act/apply-decision.ts'
import type { Pool } from '#shared/capture/lane.ts'
import { createWakeup } from '#shared/process/wakeup.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { poolWakeupSubject } from '#shared/queue/subjects.ts'
import { createDecider } from './decide/decide.ts'
import { type ControllerEvents, summarize } from './telemetry/events.ts'
import type { LoopStatus, LoopsHealth } from './loop/health.ts'
import { subscribeToPool, wakeByState } from './loop/subscribe-to-pool.ts'
import { calmTiming, type LoopDeps, type LoopTiming, runLoop, type Tick } from './loop/loop.ts'
import { createObserver } from './loop/observe.ts'
import type { Decision, Observation, PoolPolicy } from './decide/pool.ts'

/** Least time between two ticks, however often the loop is woken. */
const gapMs = 50

/** Dependencies shared by all loops of a controller. */
export type LoopParts = {
  readonly queue: Queue
  readonly events: ControllerEvents
  readonly health: LoopsHealth
  readonly now: () => number
  readonly timing: LoopTiming
  /** Milliseconds from SIGTERM to SIGKILL. */
  readonly killAfterMs: number
}

/** A loop and its workers. Dispose terminates the workers and waits for them. */
export type WorkerLoop = AsyncDisposable & { readonly run: (stop: AbortSignal) => Promise<void> }

/** `entry` is the module that a worker process runs, `env` its whole environment except the worker's name. */
export type PoolLoopOptions = {
  readonly pool: Pool
  readonly policy: PoolPolicy
  readonly entry: string
  readonly env: Readonly<Record<string, string>>
  /** The pool's part of the probe's detail. */
  readonly detailOf: (detail: PoolDetail) => LoopStatus['detail']
}

type PoolDetail = ReturnType<typeof summarize> & Pick<Decision, 'wanted' | 'reason'>

/** Whether there is nothing to do until a capture arrives or a worker changes; both wake the loop. */
const isIdle = ({ decision, observation: { backlog, depth } }: Tick<Observation, Decision>): boolean => {
  if (decision.kind !== 'hold' || decision.reason !== 'steady' || backlog === 'unknown' || depth === 'unknown')
    return false
  return backlog.pending + backlog.processing + depth.waiting + depth.inFlight === 0
}

/** Opens the loop that scales a pool of local worker processes. */
export const openPoolLoop = (parts: LoopParts, options: PoolLoopOptions): WorkerLoop => {
  const { queue, now, killAfterMs } = parts
  const { pool, policy, entry, env, detailOf } = options
  const opened = new AsyncDisposableStack()
  const events = opened.use(parts.events.of({ queue: pool, browserpool: pool }))
  const reportTick = parts.health.follow()
  const wakeup = createWakeup(gapMs)
  const notice = (given: WorkerNotice) => {
    events.worker(given)
    if (given.kind !== 'started') wakeup.notify()
  }
  const actuator = opened.use(createLocalProcesses({ entry, env, killAfterMs, notice }))
  const subscription = opened.use(
    subscribeToPool({ queue, now, malformed: parts.events.malformed, ...wakeByState(wakeup.notify) }, pool),
  )
  opened.use(queue.subscribe(poolWakeupSubject(pool), wakeup.notify))
  const reads = { subscription, actuator, now, readDepth: () => poolDepth(queue, pool) }
  let isCalm = false
  const deps: LoopDeps<Observation, Decision> = {
    observe: createObserver(reads, { slots: () => policy.slots }),
    decide: createDecider(() => policy),
    act: (decision) => applyDecision({ actuator, queue, pool }, decision),
    wakeup,
    decided: (tick) => {
      isCalm = isIdle(tick)
      const { wanted, reason, kind } = tick.decision
      reportTick({ ready: kind !== 'freeze', detail: detailOf({ ...summarize(tick.observation), wanted, reason }) })
      events.decided(tick, policy)
    },
    failed: (error) => {
      reportTick()
      events.tickFailed(error)
    },
    took: events.reconciled,
  }
  return {
    run: (stop) =>
      runLoop(
        deps,
        calmTiming(parts.timing, () => isCalm),
        stop,
      ),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

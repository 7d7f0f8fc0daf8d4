import { createLocalWorkers } from './act/local-workers.ts'
import type { WorkerProcessOptions } from './act/worker-processes.ts'
import type { Decision, Observation, PoolPolicy } from './decide/pool.ts'
import type { LoopStatus } from './loop/health.ts'
import type { Tick } from './loop/loop.ts'
import { scaledWorkload } from './loop/scaled-workload.ts'
import { createLocalJobs } from './proxied/local-jobs.ts'
import { proxiedQueue, proxiedWorkload } from './proxied/proxied-workload.ts'
import type { Reconciler } from './reconcile/pool-loops.ts'
import type { PoolSubscriptions } from './reconcile/pool-subscriptions.ts'
import { type ControllerEvents, countWorkers } from './telemetry/events.ts'
import { countJobs } from './telemetry/proxied-events.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { Queue } from '#shared/queue/connection.ts'

/** A pool whose workers are processes of this machine; `gapMs` is the least time between two ticks, however often it is woken. */
export type LocalPool = {
  readonly queue: Pool
  readonly gapMs: number
  readonly reconcile: Reconciler<LocalPool, LoopStatus>
}

/** Dependencies of local pools. */
export type LocalPoolDeps = {
  readonly queue: Queue
  readonly subscriptions: Pick<PoolSubscriptions, 'forPool' | 'reports'>
  readonly events: Pick<ControllerEvents, 'jobs'>
  readonly now: () => number
}

type PoolDetail = ReturnType<typeof countWorkers> & Pick<Decision, 'desired' | 'reason'>
type WorkersOptions = WorkerProcessOptions & {
  readonly pool: Pool
  readonly policy: PoolPolicy
}

const isAtRest = (reason: Decision['reason']) => reason === 'steady' || reason === 'queue-paused'

/** Whether there is nothing to do until a capture arrives or a worker changes; both wake the loop. */
const isIdle = ({ decision, observation: { backlog, depth } }: Tick<Observation, Decision>): boolean => {
  if (decision.kind !== 'hold' || !isAtRest(decision.reason) || backlog === 'unknown' || depth === 'unknown')
    return false
  return backlog.pending + backlog.processing + depth.waiting + depth.inFlight === 0
}

/** A pool of as many workers as its queue needs; `detailOf` returns its part of the probe's detail. */
export const localWorkers = (
  { queue, subscriptions, now }: Omit<LocalPoolDeps, 'events'>,
  options: WorkersOptions,
  detailOf: (detail: PoolDetail) => LoopStatus['detail'],
): LocalPool => ({
  queue: options.pool,
  gapMs: 50,
  reconcile: async (loop) => {
    const { pool, policy } = options
    await using actuator = createLocalWorkers({
      ...options,
      notice: (notice) => {
        loop.events.worker(notice)
        if (notice.kind !== 'started') loop.wakeup.notify()
      },
    })
    const subscription = subscriptions.forPool(pool)
    await loop.run({
      ...scaledWorkload({ pool, queue, now, actuator, subscription, policy: () => policy }),
      summarize: (tick) => {
        loop.events.decided(tick, policy)
        const { desired, reason, kind } = tick.decision
        const detail = detailOf({ ...countWorkers(tick.observation), desired, reason })
        return { isCalm: isIdle(tick), status: { ready: kind !== 'freeze', detail } }
      },
    })
  },
})

type JobsOptions = WorkerProcessOptions & {
  readonly max: number
  readonly spares: number
  /** Longest life of a process in milliseconds. */
  readonly lifeMs: number
}

/** The pool `proxied`, of one process for each capture with a caller's proxy. */
export const localJobs = ({ queue, subscriptions, events, now }: LocalPoolDeps, options: JobsOptions): LocalPool => ({
  queue: 'proxied',
  // Adds at most this to the start time of a Job.
  gapMs: 20,
  reconcile: async (loop) => {
    const { max, spares } = options
    using jobEvents = events.jobs(loop.labels)
    await using runner = createLocalJobs({
      ...options,
      notice: (notice) => {
        jobEvents.noticed(notice)
        if (notice.kind === 'ended') loop.wakeup.notify()
      },
    })
    const subscription = subscriptions.forPool('proxied')
    const { reports } = subscriptions
    const policy = { isPaused: false, max, spares, revision: '' }
    await loop.run({
      ...proxiedWorkload({ runner, reports, subscription, now, policy: () => policy, ...proxiedQueue(queue) }),
      summarize: (tick) => {
        jobEvents.decided(tick, policy)
        const { jobs, waiting } = countJobs(tick.observation)
        const { state, reason, desired } = tick.decision
        return {
          isCalm:
            (reason === 'steady' && desired === spares) ||
            (reason === 'queue-paused' && desired === 0 && waiting === 0),
          status: {
            ready: state !== undefined || reason === 'queue-paused',
            detail: { jobs, proxiedWaiting: waiting },
          },
        }
      },
    })
  },
})

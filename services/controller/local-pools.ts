import { createLocalWorkers } from './act/local-workers.ts'
import type { ProcessPoolOptions } from './act/process-pool.ts'
import type { Decision, Observation, PoolPolicy } from './decide/pool.ts'
import type { LoopStatus } from './loop/health.ts'
import type { Tick } from './loop/loop.ts'
import { scaledWorkload } from './loop/scaled-workload.ts'
import { subscribeToPool, wakeByState } from './loop/subscribe-to-pool.ts'
import { createJobReports, wakeByReports } from './proxied/job-reports.ts'
import { createLocalJobs } from './proxied/local-jobs.ts'
import { proxiedQueue, proxiedWorkload, wakeByCaptures } from './proxied/proxied-workload.ts'
import type { Reconciler } from './reconcile/pool-loops.ts'
import { type ControllerEvents, summarize } from './telemetry/events.ts'
import { summarizeJobs } from './telemetry/proxied-events.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { poolWakeupSubject } from '#shared/queue/subjects.ts'

/** A pool whose workers are processes of this machine; `gapMs` is the least time between two ticks, however often it is woken. */
export type LocalPool = {
  readonly queue: Pool
  readonly gapMs: number
  readonly reconcile: Reconciler<LocalPool, LoopStatus>
}

type LocalPoolDeps = {
  readonly queue: Queue
  readonly events: Pick<ControllerEvents, 'jobs' | 'malformed'>
  readonly now: () => number
}

type PoolDetail = ReturnType<typeof summarize> & Pick<Decision, 'wanted' | 'reason'>
type WorkersOptions = ProcessPoolOptions & {
  readonly pool: Pool
  readonly policy: PoolPolicy
  /** The pool's part of the probe's detail. */
  readonly detailOf: (detail: PoolDetail) => LoopStatus['detail']
}

/** Whether there is nothing to do until a capture arrives or a worker changes; both wake the loop. */
const isIdle = ({ decision, observation: { backlog, depth } }: Tick<Observation, Decision>): boolean => {
  if (decision.kind !== 'hold' || decision.reason !== 'steady' || backlog === 'unknown' || depth === 'unknown')
    return false
  return backlog.pending + backlog.processing + depth.waiting + depth.inFlight === 0
}

/** A pool of as many workers as its queue needs. */
export const localWorkers = ({ queue, events, now }: LocalPoolDeps, options: WorkersOptions): LocalPool => ({
  queue: options.pool,
  gapMs: 50,
  reconcile: async (loop) => {
    const { pool, policy, detailOf } = options
    const wake = loop.wakeup.notify
    await using actuator = createLocalWorkers({
      ...options,
      notice: (notice) => {
        loop.events.worker(notice)
        if (notice.kind !== 'started') wake()
      },
    })
    using subscription = subscribeToPool({ queue, now, malformed: events.malformed, ...wakeByState(wake) }, pool)
    using _wakeups = queue.subscribe(poolWakeupSubject(pool), wake)
    await loop.run({
      ...scaledWorkload({ pool, queue, now, actuator, subscription, policy: () => policy }),
      summarize: (tick) => {
        loop.events.decided(tick, policy)
        const { wanted, reason, kind } = tick.decision
        const detail = detailOf({ ...summarize(tick.observation), wanted, reason })
        return { isCalm: isIdle(tick), status: { ready: kind !== 'freeze', detail } }
      },
    })
  },
})

type JobsOptions = ProcessPoolOptions & {
  readonly max: number
  readonly spares: number
  /** Longest life of a process in milliseconds. */
  readonly lifeMs: number
}

/** The pool `proxied`, of one process for each capture with a caller's proxy. */
export const localJobs = ({ queue, events, now }: LocalPoolDeps, options: JobsOptions): LocalPool => ({
  queue: 'proxied',
  // Adds at most this to the start time of a Job.
  gapMs: 20,
  reconcile: async (loop) => {
    const { max, spares } = options
    using jobEvents = events.jobs(loop.labels)
    const reports = createJobReports(now)
    await using runner = createLocalJobs({
      ...options,
      notice: (notice) => {
        jobEvents.noticed(notice)
        if (notice.kind === 'ended') loop.wakeup.notify()
      },
    })
    const woken = wakeByReports(reports, loop.wakeup.notify)
    using subscription = subscribeToPool({ queue, now, malformed: events.malformed, ...woken }, 'proxied')
    using _wakeups = wakeByCaptures(queue, loop.wakeup)
    const policy = { isPaused: false, max, spares, revision: '' }
    await loop.run({
      ...proxiedWorkload({ runner, reports, subscription, now, policy: () => policy, ...proxiedQueue(queue) }),
      summarize: (tick) => {
        jobEvents.decided(tick, policy)
        const { jobs, waiting } = summarizeJobs(tick.observation)
        const { state, reason, wanted } = tick.decision
        return {
          isCalm: reason === 'steady' && wanted === spares,
          status: { ready: state !== undefined, detail: { jobs, proxiedWaiting: waiting } },
        }
      },
    })
  },
})

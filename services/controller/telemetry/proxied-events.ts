import type { Tick } from '#controller/loop/loop.ts'
import { type Decision, troubles } from '#controller/decide/pool.ts'
import {
  forgetPool,
  measureUnfinished,
  type PoolLabels,
  poolLabels,
  type PoolMetrics,
  stateLabels,
} from './pool-metrics.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { DeclaredMetrics, Metrics, MetricTable } from '#shared/telemetry/metrics.ts'
import type { ReportDecision } from './report-decisions.ts'
import type { JobNotice } from '#controller/proxied/job-runner.ts'
import type { ProxiedDecision, ProxiedObservation, ProxiedPolicy, JobObservation } from '#controller/proxied/proxied.ts'

/** Counts of a pool of Jobs for status and logs; `'unknown'` if they could not be read. */
export const countJobs = ({ jobs, depth }: ProxiedObservation) => {
  if (jobs === 'unknown') return { jobs, ready: jobs, busy: jobs, waiting: jobs }
  const busy = jobs.filter(({ state }) => state === 'serving').length
  const ready = busy + jobs.filter(({ state }) => state === 'idle').length
  const waiting = depth === 'unknown' ? depth : Math.max(0, depth.waiting + depth.inFlight - busy)
  return { jobs: jobs.length, ready, busy, waiting }
}

const jobMetricTable = {
  pool_jobs_created_total: { counter: 'Jobs created', labels: poolLabels },
  pool_jobs_claimed_total: { counter: 'Claims that were written to Jobs', labels: poolLabels },
  pool_jobs_refused_total: { counter: 'Jobs that were refused, by cause', labels: [...poolLabels, 'trouble'] },
} as const satisfies MetricTable

type JobMetrics = DeclaredMetrics<typeof jobMetricTable>

/** Maps the state of a Job to that of a worker. */
const workerState: Readonly<Record<JobObservation['state'], (typeof stateLabels)[number]>> = {
  coming: 'starting',
  stuck: 'stuck',
  idle: 'ready',
  serving: 'ready',
  leaving: 'draining',
  spent: 'drained',
  lost: 'lost',
}

const decisionKind = ({ state, create, giveUp }: ProxiedDecision): Decision['kind'] => {
  if (state === undefined) return 'freeze'
  if (create > 0) return 'scale-up'
  return giveUp.length > 0 ? 'stop' : 'hold'
}

const measureJobs = (
  metric: PoolMetrics,
  pool: PoolLabels,
  jobs: readonly JobObservation[],
  decision: ProxiedDecision,
) => {
  metric.pool_slots_busy.set(pool, jobs.filter(({ state }) => state === 'serving').length)
  metric.pool_slots.set(
    pool,
    jobs.filter(({ state }) => state === 'serving' || state === 'idle' || state === 'leaving').length,
  )
  for (const state of stateLabels) {
    metric.pool_workers.set({ ...pool, state }, jobs.filter((job) => workerState[job.state] === state).length)
  }
  for (const trouble of troubles) {
    const stuck = jobs.filter((job) => job.trouble?.reason === trouble).length
    metric.pool_workers_stuck.set({ ...pool, trouble }, Math.max(stuck, Number(decision.trouble?.reason === trouble)))
  }
}

const measure = (
  metric: PoolMetrics,
  pool: PoolLabels,
  { observation, decision }: Tick<ProxiedObservation, ProxiedDecision>,
) => {
  const { waiting } = countJobs(observation)
  measureUnfinished(metric, pool, observation)
  metric.pool_workers_desired.set(pool, decision.desired)
  const kind = decisionKind(decision)
  metric.pool_decisions_total.inc({ ...pool, decision: kind, reason: decision.reason })
  if (kind === 'scale-up') metric.pool_scale_events_total.inc({ ...pool, direction: 'up' })
  if (waiting !== 'unknown') metric.pool_captures_waiting.set(pool, waiting)
  if (observation.depth === 'unknown') metric.pool_reads_unknown_total.inc({ ...pool, source: 'depth' })
  if (observation.jobs === 'unknown') metric.pool_reads_unknown_total.inc({ ...pool, source: 'workers' })
  else measureJobs(metric, pool, observation.jobs, decision)
}

const count = (jobs: JobMetrics, metric: PoolMetrics, { pool, notice }: { pool: PoolLabels; notice: JobNotice }) => {
  if (notice.kind === 'created') jobs.pool_jobs_created_total.inc(pool)
  if (notice.kind === 'claimed') jobs.pool_jobs_claimed_total.inc(pool)
  if (notice.kind === 'refused') jobs.pool_jobs_refused_total.inc({ ...pool, trouble: notice.reason })
  if (notice.kind === 'given-up') metric.pool_workers_ended_total.inc({ ...pool, end: notice.kind })
  if (notice.kind === 'ended') metric.pool_workers_ended_total.inc({ ...pool, end: notice.how })
}

/**
 * Creates the events of pools of Jobs, in addition to those of all pools. A decision is logged if it acts or its reason
 * changes. Dispose removes their metrics.
 */
export const createProxiedEvents = (logger: Logger, metrics: Metrics, metric: PoolMetrics, report: ReportDecision) => {
  const jobs = metrics.declare(jobMetricTable)
  return (labels: PoolLabels) => {
    const pool = labels.browserpool
    let lastReason: string | undefined
    return {
      decided: (
        tick: Tick<ProxiedObservation, ProxiedDecision>,
        { spares, max }: Pick<ProxiedPolicy, 'spares' | 'max'>,
      ) => {
        const { create, giveUp, reason, desired, trouble } = tick.decision
        measure(metric, labels, tick)
        metric.pool_workers_min.set(labels, spares)
        metric.pool_workers_max.set(labels, max)
        const { ready } = countJobs(tick.observation)
        const known = ready === 'unknown' ? {} : { ready }
        const decision = decisionKind(tick.decision)
        report({ pool: labels.queue, browserpool: pool, desired, min: spares, max, ...known, decision, reason })
        if (create + giveUp.length > 0 || reason !== lastReason) {
          const details = { reason, ...(trouble && { trouble: trouble.message }) }
          logger.info({ pool, create, giveUp, desired, ...details, ...countJobs(tick.observation) }, `jobs ${reason}`)
        }
        lastReason = reason
      },
      noticed: (notice: JobNotice) => {
        count(jobs, metric, { pool: labels, notice })
        const isWell = notice.kind !== 'refused' && !(notice.kind === 'ended' && notice.how === 'failed')
        logger[isWell ? 'debug' : 'warn']({ pool, ...notice }, `job ${notice.kind}`)
      },
      [Symbol.dispose]: () => forgetPool(jobMetricTable, jobs, labels),
    }
  }
}

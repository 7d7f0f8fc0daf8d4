import type { Tick } from '#controller/loop/loop.ts'
import { type Decision, troubles } from '#controller/decide/pool.ts'
import { type PoolLabels, poolLabelNames, type PoolMetrics, stateLabels } from './pool-metrics.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import type { JobNotice } from '#controller/proxied/job-runner.ts'
import type { ProxiedDecision, ProxiedObservation, ProxiedPolicy, SeenJob } from '#controller/proxied/proxied.ts'

/** Counts of a pool of Jobs for status and logs; `'unknown'` if they could not be read. */
export const countJobs = ({ jobs, depth }: ProxiedObservation) => {
  if (jobs === 'unknown') return { jobs, ready: jobs, busy: jobs, waiting: jobs }
  const busy = jobs.filter(({ state }) => state === 'serving').length
  const ready = busy + jobs.filter(({ state }) => state === 'idle').length
  const waiting = depth === 'unknown' ? depth : Math.max(0, depth.waiting + depth.inFlight - busy)
  return { jobs: jobs.length, ready, busy, waiting }
}

const createJobMetrics = (metrics: Metrics) => ({
  created: metrics.counter({ name: 'pool_jobs_created_total', help: 'Jobs created', labels: poolLabelNames }),
  claimed: metrics.counter({
    name: 'pool_jobs_claimed_total',
    help: 'Claims that were written to Jobs',
    labels: poolLabelNames,
  }),
  refused: metrics.counter({
    name: 'pool_jobs_refused_total',
    help: 'Jobs that were refused, by cause',
    labels: [...poolLabelNames, 'trouble'],
  }),
})

type JobMetrics = ReturnType<typeof createJobMetrics>

/** Maps the state of a Job to that of a worker. */
const workerState: Readonly<Record<SeenJob['state'], (typeof stateLabels)[number]>> = {
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

const measureJobs = (on: PoolMetrics, pool: PoolLabels, jobs: readonly SeenJob[], decision: ProxiedDecision) => {
  on.busy.set(pool, jobs.filter(({ state }) => state === 'serving').length)
  on.slots.set(pool, jobs.filter(({ state }) => state === 'serving' || state === 'idle' || state === 'leaving').length)
  for (const state of stateLabels) {
    on.workers.set({ ...pool, state }, jobs.filter((job) => workerState[job.state] === state).length)
  }
  for (const trouble of troubles) {
    const stuck = jobs.filter((job) => job.trouble?.why === trouble).length
    on.stuck.set({ ...pool, trouble }, Math.max(stuck, Number(decision.trouble?.why === trouble)))
  }
}

const measure = (
  on: PoolMetrics,
  pool: PoolLabels,
  { observation, decision }: Tick<ProxiedObservation, ProxiedDecision>,
) => {
  const { waiting } = countJobs(observation)
  on.desired.set(pool, decision.wanted)
  on.decisions.inc({ ...pool, decision: decisionKind(decision), reason: decision.reason })
  if (waiting !== 'unknown') on.waiting.set(pool, waiting)
  if (observation.depth === 'unknown') on.unknown.inc({ ...pool, source: 'depth' })
  if (observation.jobs === 'unknown') on.unknown.inc({ ...pool, source: 'workers' })
  else measureJobs(on, pool, observation.jobs, decision)
}

const count = (jobs: JobMetrics, on: PoolMetrics, { pool, notice }: { pool: PoolLabels; notice: JobNotice }) => {
  if (notice.kind === 'created') jobs.created.inc(pool)
  if (notice.kind === 'claimed') jobs.claimed.inc(pool)
  if (notice.kind === 'refused') jobs.refused.inc({ ...pool, trouble: notice.why })
  if (notice.kind === 'given-up') on.ended.inc({ ...pool, end: notice.kind })
  if (notice.kind === 'ended') on.ended.inc({ ...pool, end: notice.how })
}

const forget = ({ created, claimed, refused }: JobMetrics, pool: PoolLabels) => {
  for (const metric of [created, claimed]) metric.remove(pool)
  for (const trouble of troubles) refused.remove({ ...pool, trouble })
}

/**
 * Creates the events of pools of Jobs, in addition to those of all pools. A decision is logged if it acts or its reason
 * changes. Dispose removes their metrics.
 */
export const createProxiedEvents = (logger: Logger, metrics: Metrics, on: PoolMetrics) => {
  const jobs = createJobMetrics(metrics)
  return (labels: PoolLabels) => {
    const pool = labels.browserpool
    let lastReason: string | undefined
    return {
      decided: (
        tick: Tick<ProxiedObservation, ProxiedDecision>,
        { spares, max }: Pick<ProxiedPolicy, 'spares' | 'max'>,
      ) => {
        const { create, giveUp, reason, wanted, trouble } = tick.decision
        measure(on, labels, tick)
        on.min.set(labels, spares)
        on.max.set(labels, max)
        if (create + giveUp.length > 0 || reason !== lastReason) {
          const why = { reason, ...(trouble && { trouble: trouble.message }) }
          logger.info({ pool, create, giveUp, wanted, ...why, ...countJobs(tick.observation) }, `jobs ${reason}`)
        }
        lastReason = reason
      },
      noticed: (notice: JobNotice) => {
        count(jobs, on, { pool: labels, notice })
        const isWell = notice.kind !== 'refused' && !(notice.kind === 'ended' && notice.how === 'failed')
        logger[isWell ? 'debug' : 'warn']({ pool, ...notice }, `job ${notice.kind}`)
      },
      [Symbol.dispose]: () => forget(jobs, labels),
    }
  }
}

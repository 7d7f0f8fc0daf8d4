import type { Tick } from '#controller/loop.ts'
import { reasons, troubles } from '#controller/pool.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import type { JobNotice } from './job-runner.ts'
import { jobStates, type ProxiedDecision, type ProxiedObservation } from './proxied.ts'

/** What the controller says of one pool of Jobs. Dispose takes back all that its metrics show: the pool is gone, or another acts. */
export type ProxiedEvents = Disposable & {
  readonly decided: (tick: Tick<ProxiedObservation, ProxiedDecision>) => void
  readonly noticed: (notice: JobNotice) => void
}

/** Numbers of a pool of Jobs as status and log show them; what is unknown is `'unknown'`. */
export const summarizeJobs = ({ jobs, depth }: ProxiedObservation) => {
  if (jobs === 'unknown') return { jobs, ready: jobs, busy: jobs, waiting: jobs }
  const busy = jobs.filter(({ state }) => state === 'serving').length
  const ready = busy + jobs.filter(({ state }) => state === 'idle').length
  const waiting = depth === 'unknown' ? depth : Math.max(0, depth.waiting + depth.inFlight - busy)
  return { jobs: jobs.length, ready, busy, waiting }
}

const createJobMetrics = (metrics: Metrics) => ({
  jobs: metrics.gauge({ name: 'pool_jobs', help: 'Jobs that have not ended, by state', labels: ['pool', 'state'] }),
  wanted: metrics.gauge({
    name: 'pool_jobs_wanted',
    help: 'Jobs that the work needs, within the bound',
    labels: ['pool'],
  }),
  waiting: metrics.gauge({
    name: 'pool_jobs_captures_waiting',
    help: 'Captures that no Job serves yet',
    labels: ['pool'],
  }),
  trouble: metrics.gauge({
    name: 'pool_jobs_trouble',
    help: 'Whether Jobs do not come up, by why, 1 or 0',
    labels: ['pool', 'trouble'],
  }),
  unknown: metrics.counter({
    name: 'pool_jobs_reads_unknown_total',
    help: 'Ticks in which a number could not be read',
    labels: ['pool', 'source'],
  }),
  decisions: metrics.counter({
    name: 'pool_jobs_decisions_total',
    help: 'Decisions on the number of Jobs by why',
    labels: ['pool', 'reason'],
  }),
  created: metrics.counter({ name: 'pool_jobs_created_total', help: 'Jobs that were made', labels: ['pool'] }),
  claimed: metrics.counter({
    name: 'pool_jobs_claimed_total',
    help: 'Claims that were shown on Jobs',
    labels: ['pool'],
  }),
  refused: metrics.counter({
    name: 'pool_jobs_refused_total',
    help: 'Jobs that were refused, by why',
    labels: ['pool', 'trouble'],
  }),
  ended: metrics.counter({
    name: 'pool_jobs_ended_total',
    help: 'Jobs that ended, by how; given up ones are counted when they are',
    labels: ['pool', 'how'],
  }),
})

type JobMetrics = ReturnType<typeof createJobMetrics>

const sources = ['jobs', 'depth'] as const
const ends = ['succeeded', 'failed', 'vanished', 'given-up'] as const

const measure = (on: JobMetrics, pool: string, { seen, decision }: Tick<ProxiedObservation, ProxiedDecision>) => {
  const { waiting } = summarizeJobs(seen)
  on.wanted.set({ pool }, decision.wanted)
  on.decisions.inc({ pool, reason: decision.reason })
  if (waiting !== 'unknown') on.waiting.set({ pool }, waiting)
  for (const trouble of troubles) on.trouble.set({ pool, trouble }, Number(decision.trouble?.why === trouble))
  for (const source of sources) if (seen[source] === 'unknown') on.unknown.inc({ pool, source })
  const { jobs } = seen
  if (jobs === 'unknown') return
  for (const state of jobStates) on.jobs.set({ pool, state }, jobs.filter((job) => job.state === state).length)
}

const count = (on: JobMetrics, pool: string, notice: JobNotice) => {
  if (notice.kind === 'created') on.created.inc({ pool })
  if (notice.kind === 'claimed') on.claimed.inc({ pool })
  if (notice.kind === 'refused') on.refused.inc({ pool, trouble: notice.why })
  if (notice.kind === 'given-up') on.ended.inc({ pool, how: notice.kind })
  if (notice.kind === 'ended') on.ended.inc({ pool, how: notice.how })
}

const forget = (on: JobMetrics, pool: string) => {
  for (const metric of [on.wanted, on.waiting, on.created, on.claimed]) metric.remove({ pool })
  for (const state of jobStates) on.jobs.remove({ pool, state })
  for (const metric of [on.trouble, on.refused]) for (const trouble of troubles) metric.remove({ pool, trouble })
  for (const source of sources) on.unknown.remove({ pool, source })
  for (const reason of reasons) on.decisions.remove({ pool, reason })
  for (const how of ends) on.ended.remove({ pool, how })
}

/** Makes what makes the events of the pool of a name. A decision is logged when it does something or its reason changes. */
export const createProxiedEvents = (logger: Logger, metrics: Metrics): ((pool: string) => ProxiedEvents) => {
  const on = createJobMetrics(metrics)
  return (pool) => {
    let lastReason: string | undefined
    return {
      decided: (tick) => {
        const { create, giveUp, reason, wanted, trouble } = tick.decision
        measure(on, pool, tick)
        if (create + giveUp.length > 0 || reason !== lastReason) {
          const why = { reason, ...(trouble && { trouble: trouble.message }) }
          logger.info({ pool, create, giveUp, wanted, ...why, ...summarizeJobs(tick.seen) }, `jobs ${reason}`)
        }
        lastReason = reason
      },
      noticed: (notice) => {
        count(on, pool, notice)
        const isWell = notice.kind !== 'refused' && !(notice.kind === 'ended' && notice.how === 'failed')
        logger[isWell ? 'debug' : 'warn']({ pool, ...notice }, `job ${notice.kind}`)
      },
      [Symbol.dispose]: () => forget(on, pool),
    }
  }
}

import type { WorkerNotice } from '#controller/act/actuator.ts'
import { estimateSentence } from '#controller/decide/estimate.ts'
import { lanes } from '#shared/capture/lane.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import type { QueueNotice } from '#shared/queue/connection.ts'
import type { ReportDecision } from './report-decisions.ts'
import { createProxiedEvents } from './proxied-events.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import type { Tick } from '#controller/loop/loop.ts'
import {
  type Decision,
  type Observation,
  type PoolPolicy,
  type Trouble,
  troubles,
  workerStates,
} from '#controller/decide/pool.ts'
import {
  forgetPool,
  freezeReasons,
  measureUnfinished,
  type PoolLabels,
  type PoolMetrics,
  poolMetricTable,
  readSources,
  scaleDirections,
} from './pool-metrics.ts'

/** Number of stuck and refused workers with this trouble; without one, with any. */
const inTrouble = ({ workers, refused }: Observation, trouble?: Trouble): number | 'unknown' => {
  if (workers === 'unknown') return workers
  const matches = (found: Trouble | undefined) => found !== undefined && (trouble === undefined || found === trouble)
  return (
    workers.filter((worker) => matches(worker.trouble)).length + (matches(refused?.trouble) ? (refused?.count ?? 0) : 0)
  )
}

/** Counts of a pool for status, logs and metrics; `'unknown'` if they could not be read. */
export const countWorkers = (observation: Observation) => ({
  ready:
    observation.workers === 'unknown'
      ? observation.workers
      : observation.workers.filter(({ state }) => state === 'ready').length,
  stuck: inTrouble(observation),
  busy:
    observation.workers === 'unknown'
      ? observation.workers
      : observation.workers.reduce((sum, { busy }) => sum + busy, 0),
  queue: observation.backlog === 'unknown' ? observation.backlog : observation.backlog.pending,
})

const measure = (metric: PoolMetrics, pool: PoolLabels, observation: Observation) => {
  const { busy, queue } = countWorkers(observation)
  measureUnfinished(metric, pool, observation)
  if (busy !== 'unknown') metric.pool_slots_busy.set(pool, busy)
  if (queue !== 'unknown') metric.pool_captures_waiting.set(pool, queue)
  for (const source of readSources) {
    if (observation[source] === 'unknown') metric.pool_reads_unknown_total.inc({ ...pool, source })
  }
  if (observation.workers === 'unknown') return
  const serving = observation.workers.filter(({ state }) => state === 'ready' || state === 'draining')
  metric.pool_slots.set(
    pool,
    serving.reduce((sum, { slots }) => sum + slots, 0),
  )
  for (const state of workerStates) {
    metric.pool_workers.set({ ...pool, state }, observation.workers.filter((worker) => worker.state === state).length)
  }
  for (const trouble of troubles)
    metric.pool_workers_stuck.set({ ...pool, trouble }, Number(inTrouble(observation, trouble)))
}

/** A worker that has been drained is stopped without a second event. */
const scaleDirection = ({ kind, reason }: Decision): (typeof scaleDirections)[number] | undefined => {
  if (kind === 'scale-up') return 'up'
  return kind === 'drain' || (kind === 'stop' && reason === 'excess') ? 'down' : undefined
}

/** Starts the series of rare events at 0: Prometheus does not count the first value of a series as an increase. */
const startCounters = (metric: PoolMetrics, labels: PoolLabels) => {
  for (const direction of scaleDirections) metric.pool_scale_events_total.inc({ ...labels, direction }, 0)
  for (const reason of freezeReasons) metric.pool_decisions_total.inc({ ...labels, decision: 'freeze', reason }, 0)
  metric.pool_decisions_total.inc({ ...labels, decision: 'hold', reason: 'at-maximum' }, 0)
  metric.pool_reconcile_failures_total.inc(labels, 0)
}

/** Dispose removes the pool's metrics, because the pool was deleted or another controller leads. */
const createPoolEvents = (logger: Logger, metric: PoolMetrics, labels: PoolLabels, report: ReportDecision) => {
  const pool = labels.browserpool
  let lastMessage = ''
  startCounters(metric, labels)
  return {
    decided: (
      { observation, decision }: Tick<Observation, Decision>,
      { size, min, max, objectivesMs }: Pick<PoolPolicy, 'size' | 'min' | 'max' | 'objectivesMs'>,
    ) => {
      const { kind, reason, desired, estimate, ...what } = decision
      measure(metric, labels, observation)
      metric.pool_workers_desired.set(labels, desired)
      const bounds = size === 'by-queue' ? { min, max } : { min: size, max: size }
      metric.pool_workers_min.set(labels, bounds.min)
      metric.pool_workers_max.set(labels, bounds.max)
      for (const lane of lanes) metric.pool_lane_objective_seconds.set({ ...labels, lane }, objectivesMs[lane] / 1000)
      metric.pool_decisions_total.inc({ ...labels, decision: kind, reason })
      const direction = scaleDirection(decision)
      if (direction) metric.pool_scale_events_total.inc({ ...labels, direction })
      const { ready } = countWorkers(observation)
      const known = ready === 'unknown' ? {} : { ready }
      const decided = { desired, decision: kind, reason, objectivesMs, ...bounds, ...known }
      report({ pool: labels.queue, browserpool: pool, ...decided })
      const message = `${kind} ${reason}`
      const inSeconds = (untilMs: number) => `${Math.round((untilMs - observation.nowMs) / 1000)} s from now`
      const estimated = estimate && { estimate: estimateSentence(estimate, inSeconds) }
      const acts = kind !== 'hold' && kind !== 'freeze'
      if (acts || message !== lastMessage)
        logger.info(
          { pool, decision: kind, reason, desired, ...estimated, ...what, ...countWorkers(observation) },
          message,
        )
      lastMessage = message
    },
    tickFailed: (error: AppError) => {
      metric.pool_reconcile_failures_total.inc(labels)
      logger.error({ pool, err: error }, 'reconciliation failed, retrying')
    },
    /** Duration of a reconciliation in milliseconds, failed ones included. */
    reconciled: (ms: number) => metric.pool_reconcile_seconds.observe(labels, ms / 1000),
    worker: (notice: WorkerNotice) => {
      if (notice.kind === 'ready') metric.pool_worker_start_seconds.observe(labels, notice.ageMs / 1000)
      if (notice.kind === 'ended')
        metric.pool_workers_ended_total.inc({ ...labels, end: notice.isExpected ? 'expected' : 'unexpected' })
      const isUnexpected = notice.kind === 'ended' && !notice.isExpected
      logger[isUnexpected ? 'warn' : 'info']({ pool, ...notice }, `worker ${notice.kind}`)
    },
    [Symbol.dispose]: () => forgetPool(poolMetricTable, metric, labels),
  }
}

/** Events of one pool. */
export type PoolEvents = ReturnType<typeof createPoolEvents>

/**
 * Creates the events of a controller: each function logs and counts one. A decision is logged if it acts, or if its kind or
 * reason differs from the last one's; `report` publishes it.
 */
export const createEvents = (logger: Logger, metrics: Metrics, report: ReportDecision = () => {}) => {
  const metric = metrics.declare({
    ...poolMetricTable,
    pool_messages_malformed_total: { counter: 'Messages that break their schema' },
  })
  return {
    /** The events of a pool. */
    forPool: (pool: PoolLabels) => createPoolEvents(logger, metric, pool, report),
    /** Further events of a pool whose captures get a Job each. */
    jobs: createProxiedEvents(logger, metrics, metric, report),
    queue: ({ kind, detail }: QueueNotice) =>
      logger[kind === 'reconnected' ? 'info' : 'warn']({ detail }, `connection to NATS: ${kind}`),
    malformed: (subject: string) => {
      metric.pool_messages_malformed_total.inc()
      logger.debug({ subject }, 'malformed message')
    },
  }
}

/** Events of a controller. */
export type ControllerEvents = ReturnType<typeof createEvents>

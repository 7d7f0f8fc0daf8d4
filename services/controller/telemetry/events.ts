import type { WorkerNotice } from '#controller/act/actuator.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import type { QueueNotice } from '#shared/queue/connection.ts'
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
import { createPoolMetrics, forgetPool, type PoolLabels, type PoolMetrics, readSources } from './pool-metrics.ts'

/** Number of stuck and refused workers with this trouble; without one, with any. */
const inTrouble = ({ workers, refused }: Observation, trouble?: Trouble): number | 'unknown' => {
  if (workers === 'unknown') return workers
  const isMeant = (of: Trouble | undefined) => of !== undefined && (trouble === undefined || of === trouble)
  return (
    workers.filter((worker) => isMeant(worker.trouble)).length + (isMeant(refused?.trouble) ? (refused?.count ?? 0) : 0)
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

const measure = (on: PoolMetrics, pool: PoolLabels, observation: Observation) => {
  const { busy, queue } = countWorkers(observation)
  if (busy !== 'unknown') on.busy.set(pool, busy)
  if (queue !== 'unknown') on.waiting.set(pool, queue)
  for (const source of readSources) {
    if (observation[source] === 'unknown') on.unknown.inc({ ...pool, source })
  }
  if (observation.workers === 'unknown') return
  const serving = observation.workers.filter(({ state }) => state === 'ready' || state === 'draining')
  on.slots.set(
    pool,
    serving.reduce((sum, { slots }) => sum + slots, 0),
  )
  for (const state of workerStates) {
    on.workers.set({ ...pool, state }, observation.workers.filter((worker) => worker.state === state).length)
  }
  for (const trouble of troubles) on.stuck.set({ ...pool, trouble }, Number(inTrouble(observation, trouble)))
}

/** Dispose removes the pool's metrics, because the pool was deleted or another controller leads. */
const createPoolEvents = (logger: Logger, on: PoolMetrics, labels: PoolLabels) => {
  const pool = labels.browserpool
  let lastMessage = ''
  return {
    decided: (
      { observation, decision }: Tick<Observation, Decision>,
      { size, min, max }: Pick<PoolPolicy, 'size' | 'min' | 'max'>,
    ) => {
      const { kind, reason, wanted, ...what } = decision
      measure(on, labels, observation)
      on.desired.set(labels, wanted)
      on.min.set(labels, size === 'by-queue' ? min : size)
      on.max.set(labels, size === 'by-queue' ? max : size)
      on.decisions.inc({ ...labels, decision: kind, reason })
      const message = `${kind} ${reason}`
      const acts = kind !== 'hold' && kind !== 'freeze'
      if (acts || message !== lastMessage)
        logger.info({ pool, decision: kind, reason, wanted, ...what, ...countWorkers(observation) }, message)
      lastMessage = message
    },
    tickFailed: (error: AppError) => {
      on.reconcileFailures.inc(labels)
      logger.error({ pool, err: error }, 'reconciliation failed, retrying')
    },
    /** Duration of a reconciliation in milliseconds, failed ones included. */
    reconciled: (ms: number) => on.reconcileSeconds.observe(labels, ms / 1000),
    worker: (notice: WorkerNotice) => {
      if (notice.kind === 'ready') on.startSeconds.observe(labels, notice.ageMs / 1000)
      if (notice.kind === 'ended') on.ended.inc({ ...labels, end: notice.asked ? 'expected' : 'unexpected' })
      const isUnexpected = notice.kind === 'ended' && !notice.asked
      logger[isUnexpected ? 'warn' : 'info']({ pool, ...notice }, `worker ${notice.kind}`)
    },
    [Symbol.dispose]: () => forgetPool(on, labels),
  }
}

/** Events of one pool. */
export type PoolEvents = ReturnType<typeof createPoolEvents>

/**
 * Creates the events of a controller: each function logs and counts one. A decision is logged if it acts, or if its kind or
 * reason differs from the last one's.
 */
export const createEvents = (logger: Logger, metrics: Metrics) => {
  const on = createPoolMetrics(metrics)
  const malformed = metrics.counter({ name: 'pool_messages_malformed_total', help: 'Messages that break their schema' })
  return {
    /** The events of a pool. */
    of: (pool: PoolLabels) => createPoolEvents(logger, on, pool),
    /** Further events of a pool whose captures get a Job each. */
    jobs: createProxiedEvents(logger, metrics, on),
    queue: ({ kind, detail }: QueueNotice) =>
      logger[kind === 'back' ? 'info' : 'warn']({ detail }, `connection to NATS: ${kind}`),
    malformed: (subject: string) => {
      malformed.inc()
      logger.debug({ subject }, 'malformed message')
    },
  }
}

/** Events of a controller. */
export type ControllerEvents = ReturnType<typeof createEvents>

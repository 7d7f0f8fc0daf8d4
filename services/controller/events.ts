import type { WorkerNotice } from '#controller/act/actuator.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import type { QueueNotice } from '#shared/queue/connection.ts'
import { createProxiedEvents, type ProxiedEvents } from './proxied/proxied-events.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import type { Tick } from './loop.ts'
import {
  decisionKinds,
  type Decision,
  type Observation,
  reasons,
  type Trouble,
  troubles,
  workerStates,
} from './pool.ts'

/** What the controller says of one pool. Dispose takes back all that its metrics show: the pool is gone, or another acts. */
export type PoolEvents = Disposable & {
  readonly decided: (tick: Tick<Observation, Decision>) => void
  readonly tickFailed: (error: AppError) => void
  readonly worker: (notice: WorkerNotice) => void
}

/** What the controller says of itself: each function logs and counts one event. */
export type ControllerEvents = {
  readonly queue: (notice: QueueNotice) => void
  readonly malformed: (subject: string) => void
  /** The events of the pool of this name. */
  readonly of: (pool: string) => PoolEvents
  /** Further events of a pool whose captures get a Job each. */
  readonly jobs: (pool: string) => ProxiedEvents
}

/** Workers and refused ones that are in this trouble, or in any. */
const inTrouble = ({ workers, refused }: Observation, trouble?: Trouble): number | 'unknown' => {
  if (workers === 'unknown') return workers
  const isMeant = (of: Trouble | undefined) => of !== undefined && (trouble === undefined || of === trouble)
  return (
    workers.filter((worker) => isMeant(worker.trouble)).length + (isMeant(refused?.trouble) ? (refused?.count ?? 0) : 0)
  )
}

/** Numbers of a pool as status, log and metrics show them; what is unknown is `'unknown'`. */
export const summarize = (seen: Observation) => ({
  ready: seen.workers === 'unknown' ? seen.workers : seen.workers.filter(({ state }) => state === 'ready').length,
  stuck: inTrouble(seen),
  busy: seen.workers === 'unknown' ? seen.workers : seen.workers.reduce((sum, { busy }) => sum + busy, 0),
  queue: seen.backlog === 'unknown' ? seen.backlog : seen.backlog.pending,
})

const createPoolMetrics = (metrics: Metrics) => ({
  workers: metrics.gauge({ name: 'pool_workers', help: 'Workers of the pool by state', labels: ['pool', 'state'] }),
  stuck: metrics.gauge({
    name: 'pool_workers_stuck',
    help: 'Workers that cannot come up by why, and those that were asked for and are not made',
    labels: ['pool', 'trouble'],
  }),
  wanted: metrics.gauge({
    name: 'pool_workers_wanted',
    help: 'Workers that the work needs, within the bounds',
    labels: ['pool'],
  }),
  busy: metrics.gauge({ name: 'pool_slots_busy', help: 'Slots that serve a capture', labels: ['pool'] }),
  waiting: metrics.gauge({ name: 'pool_captures_waiting', help: 'Captures that wait for a slot', labels: ['pool'] }),
  unknown: metrics.counter({
    name: 'pool_reads_unknown_total',
    help: 'Ticks in which a number could not be read',
    labels: ['pool', 'source'],
  }),
  decisions: metrics.counter({
    name: 'pool_decisions_total',
    help: 'Decisions by what was decided and why',
    labels: ['pool', 'decision', 'reason'],
  }),
  ticksFailed: metrics.counter({
    name: 'pool_ticks_failed_total',
    help: 'Ticks that ended with an error',
    labels: ['pool'],
  }),
  ended: metrics.counter({
    name: 'pool_workers_ended_total',
    help: 'Workers that ended',
    labels: ['pool', 'asked'],
  }),
  startSeconds: metrics.histogram({
    name: 'pool_worker_start_seconds',
    help: 'Time from the start of a worker until it was ready',
    labels: ['pool'],
    buckets: [0.5, 1, 2, 3, 5, 8, 13, 21, 34, 60],
  }),
})

type PoolMetrics = ReturnType<typeof createPoolMetrics>

const sources = ['workers', 'backlog', 'depth'] as const

const measure = (on: PoolMetrics, pool: string, seen: Observation) => {
  const { busy, queue } = summarize(seen)
  if (busy !== 'unknown') on.busy.set({ pool }, busy)
  if (queue !== 'unknown') on.waiting.set({ pool }, queue)
  for (const source of sources) {
    if (seen[source] === 'unknown') on.unknown.inc({ pool, source })
  }
  if (seen.workers === 'unknown') return
  for (const state of workerStates) {
    on.workers.set({ pool, state }, seen.workers.filter((worker) => worker.state === state).length)
  }
  for (const trouble of troubles) on.stuck.set({ pool, trouble }, Number(inTrouble(seen, trouble)))
}

const forget = (on: PoolMetrics, pool: string) => {
  for (const metric of [on.busy, on.waiting, on.wanted, on.ticksFailed, on.startSeconds]) metric.remove({ pool })
  for (const source of sources) on.unknown.remove({ pool, source })
  for (const asked of ['true', 'false']) on.ended.remove({ pool, asked })
  for (const reason of reasons) for (const decision of decisionKinds) on.decisions.remove({ pool, decision, reason })
  for (const state of workerStates) on.workers.remove({ pool, state })
  for (const trouble of troubles) on.stuck.remove({ pool, trouble })
}

const createPoolEvents = (logger: Logger, on: PoolMetrics, pool: string): PoolEvents => {
  let lastWords = ''
  return {
    decided: ({ seen, decision }) => {
      const { kind, reason, wanted, ...what } = decision
      measure(on, pool, seen)
      on.wanted.set({ pool }, wanted)
      on.decisions.inc({ pool, decision: kind, reason })
      const words = `${kind} ${reason}`
      const acts = kind !== 'hold' && kind !== 'freeze'
      if (acts || words !== lastWords)
        logger.info({ pool, decision: kind, reason, wanted, ...what, ...summarize(seen) }, words)
      lastWords = words
    },
    tickFailed: (error) => {
      on.ticksFailed.inc({ pool })
      logger.error({ pool, err: error }, 'a tick failed')
    },
    worker: (notice) => {
      if (notice.kind === 'ready') on.startSeconds.observe({ pool }, notice.ageMs / 1000)
      if (notice.kind === 'ended') on.ended.inc({ pool, asked: String(notice.asked) })
      const unasked = notice.kind === 'ended' && !notice.asked
      logger[unasked ? 'warn' : 'info']({ pool, ...notice }, `worker ${notice.kind}`)
    },
    [Symbol.dispose]: () => forget(on, pool),
  }
}

/** Makes the events of a controller. A decision is logged when it does something or its reason changes. */
export const createEvents = (logger: Logger, metrics: Metrics): ControllerEvents => {
  const on = createPoolMetrics(metrics)
  const malformed = metrics.counter({ name: 'pool_messages_malformed_total', help: 'Messages that break their schema' })
  return {
    of: (pool) => createPoolEvents(logger, on, pool),
    jobs: createProxiedEvents(logger, metrics),
    queue: ({ kind, detail }) => logger[kind === 'back' ? 'info' : 'warn']({ detail }, `connection to NATS: ${kind}`),
    malformed: (subject) => {
      malformed.inc()
      logger.debug({ subject }, 'a message breaks its schema')
    },
  }
}

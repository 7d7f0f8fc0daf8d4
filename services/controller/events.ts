import type { WorkerNotice } from '#controller/act/actuator.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import type { QueueNotice } from '#shared/queue/connection.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import type { Tick } from './loop.ts'
import { type Observation, workerStates } from './pool.ts'

/** What the controller says of itself: each function logs and counts one event. */
export type ControllerEvents = {
  readonly decided: (tick: Tick) => void
  readonly tickFailed: (error: AppError) => void
  readonly worker: (notice: WorkerNotice) => void
  readonly queue: (notice: QueueNotice) => void
  readonly malformed: (subject: string) => void
}

/** Numbers of a pool as status, log and metrics show them; what is unknown is `'unknown'`. */
export const summarize = ({ workers, backlog }: Observation) => ({
  ready: workers === 'unknown' ? workers : workers.filter(({ state }) => state === 'ready').length,
  busy: workers === 'unknown' ? workers : workers.reduce((sum, { busy }) => sum + busy, 0),
  queue: backlog === 'unknown' ? backlog : backlog.pending,
})

const createPoolMetrics = (metrics: Metrics) => ({
  workers: metrics.gauge({ name: 'pool_workers', help: 'Workers of the pool by state', labels: ['state'] }),
  wanted: metrics.gauge({ name: 'pool_workers_wanted', help: 'Workers that the work needs, within the bounds' }),
  busy: metrics.gauge({ name: 'pool_slots_busy', help: 'Slots that serve a capture' }),
  waiting: metrics.gauge({ name: 'pool_captures_waiting', help: 'Captures that wait for a slot' }),
  unknown: metrics.counter({
    name: 'pool_reads_unknown_total',
    help: 'Ticks in which a number could not be read',
    labels: ['source'],
  }),
  decisions: metrics.counter({
    name: 'pool_decisions_total',
    help: 'Decisions by what was decided and why',
    labels: ['decision', 'reason'],
  }),
  ticksFailed: metrics.counter({ name: 'pool_ticks_failed_total', help: 'Ticks that ended with an error' }),
  ended: metrics.counter({ name: 'pool_workers_ended_total', help: 'Workers that ended', labels: ['asked'] }),
  startSeconds: metrics.histogram({
    name: 'pool_worker_start_seconds',
    help: 'Time from the start of a worker until it was ready',
    buckets: [0.5, 1, 2, 3, 5, 8, 13, 21, 34, 60],
  }),
  malformed: metrics.counter({ name: 'pool_messages_malformed_total', help: 'Messages that break their schema' }),
})

/** Makes the events of a controller. A decision is logged when it does something or its reason changes. */
export const createEvents = (logger: Logger, metrics: Metrics): ControllerEvents => {
  const on = createPoolMetrics(metrics)
  let lastWords = ''

  const measure = (seen: Observation) => {
    const { busy, queue } = summarize(seen)
    if (busy !== 'unknown') on.busy.set(busy)
    if (queue !== 'unknown') on.waiting.set(queue)
    for (const source of ['workers', 'backlog', 'depth'] as const) {
      if (seen[source] === 'unknown') on.unknown.inc({ source })
    }
    if (seen.workers === 'unknown') return
    for (const state of workerStates) {
      on.workers.set({ state }, seen.workers.filter((worker) => worker.state === state).length)
    }
  }

  return {
    decided: ({ seen, decision }) => {
      const { kind, reason, wanted, ...what } = decision
      measure(seen)
      on.wanted.set(wanted)
      on.decisions.inc({ decision: kind, reason })
      const words = `${kind} ${reason}`
      const acts = kind !== 'hold' && kind !== 'freeze'
      if (acts || words !== lastWords)
        logger.info({ decision: kind, reason, wanted, ...what, ...summarize(seen) }, words)
      lastWords = words
    },
    tickFailed: (error) => {
      on.ticksFailed.inc()
      logger.error({ err: error }, 'a tick failed')
    },
    worker: (notice) => {
      if (notice.kind === 'ready') on.startSeconds.observe(notice.ageMs / 1000)
      if (notice.kind === 'ended') on.ended.inc({ asked: String(notice.asked) })
      const unasked = notice.kind === 'ended' && !notice.asked
      logger[unasked ? 'warn' : 'info'](notice, `worker ${notice.kind}`)
    },
    queue: ({ kind, detail }) => logger[kind === 'back' ? 'info' : 'warn']({ detail }, `connection to NATS: ${kind}`),
    malformed: (subject) => {
      on.malformed.inc()
      logger.debug({ subject }, 'a message breaks its schema')
    },
  }
}

import type { AppError } from '#shared/errors/app-error.ts'
import type { QueueNotice } from '#shared/queue/connection.ts'
import type { CompletedResult, FailedResult, Timings } from '#shared/queue/messages.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import type { BlockLists } from '#worker/block-lists/provide-lists.ts'
import type { Fault } from '#worker/protocol/protocol.ts'

/** Why a worker that is not drained may not pull captures. */
export type HoldCause = 'egress' | 'browser' | 'store'

/** A fault of the service that interrupted an attempt. */
export type Interruption = {
  readonly by: Fault | 'store'
  /** For logs. */
  readonly detail: string
  /** Whether the attempt is handed back, with how often so far, or lost, so that the next one begins. */
  readonly fate: { readonly kind: 'handed-back'; readonly handBacks: number } | { readonly kind: 'lost' }
}

type Lists = Pick<BlockLists, 'key' | 'lists'>

const describeLists = ({ key, lists }: Lists) => ({
  lists: key,
  versions: lists.map(({ kind, name, version }) => `${kind}/${name}@${version}`),
})

const declareMetrics = (metrics: Metrics) => ({
  captures: metrics.counter({
    name: 'worker_captures_total',
    help: 'Attempts that ended, by how they ended.',
    labels: ['outcome'],
  }),
  stages: metrics.histogram({
    name: 'worker_stage_seconds',
    help: 'Time that the stages of completed captures take.',
    labels: ['stage'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  }),
  hosts: metrics.counter({
    name: 'worker_hosts_total',
    help: 'Browser hosts that started, failed to start, or ended later.',
    labels: ['outcome'],
  }),
  interruptions: metrics.counter({
    name: 'worker_interruptions_total',
    help: 'Attempts that a fault of the service interrupted, by its source (overload: egress was at its connection limit, raise SHUTTERFLEET_EGRESS_CONNECTIONS_MAX) and by whether the attempt was handed back or lost.',
    labels: ['by', 'fate'],
  }),
  held: metrics.gauge({
    name: 'worker_held',
    help: '1 while the worker takes no captures for this cause.',
    labels: ['cause'],
  }),
  canary: metrics.counter({
    name: 'worker_canary_connections_total',
    help: 'Connections of pages to the loopback of the worker that bypassed their proxy; anything but 0 is a breach.',
  }),
  blockLists: metrics.gauge({
    name: 'worker_block_list_info',
    help: 'Always 1: a block list of the worker, at most a hundred of the operator; its version is the one named in the head of the list, or the start of its SHA-256.',
    labels: ['kind', 'name', 'version'],
  }),
})

/** One function per event of a worker; each writes its log line and its metrics. */
export const createEvents = (logger: Logger, metrics: Metrics) => {
  const { captures, stages, hosts, interruptions, held, canary, blockLists } = declareMetrics(metrics)
  const observe = (timings: Partial<Timings>) => {
    for (const [stage, ms] of Object.entries(timings)) stages.observe({ stage }, ms / 1000)
  }
  const current: { lists?: string } = {}
  return {
    unsafe: (setting: string, what: string) => logger.warn({ setting }, what),
    queue: ({ kind, detail }: QueueNotice) => logger.warn({ detail }, `nats ${kind}`),
    hostUp: (tookMs: number) => {
      hosts.inc({ outcome: 'up' })
      logger.info({ tookMs: Math.round(tookMs) }, 'browser host is warm')
    },
    hostFailed: (error: AppError) => {
      hosts.inc({ outcome: 'failed' })
      logger.error({ error: error.message }, 'browser host failed to start')
    },
    /** A host ended or was killed; another is started. */
    hostGone: (reason: string) => {
      hosts.inc({ outcome: 'gone' })
      logger.warn({ reason }, 'browser host ended, starting another')
    },
    /** A page bypassed its proxy and reached the worker's loopback. */
    canaryReached: () => {
      canary.inc()
      logger.error('a page reached the loopback of the worker around its proxy')
    },
    /** The block lists of all captures from now on. */
    blockLists: (loaded: Lists) => {
      blockLists.reset()
      for (const { kind, name, version } of loaded.lists) blockLists.set({ kind, name, version }, 1)
      logger.info(Object.assign(current, describeLists(loaded)), 'block lists loaded')
    },
    dropped: (id: string, reason: 'ended' | 'closed' | 'no-attempt-left' | 'unreadable') =>
      logger.info({ id, reason }, 'delivery dropped'),
    begun: (capture: { id: string; attempt: number; traceId: string | undefined }) =>
      logger.debug(capture, 'attempt begins'),
    ended: (result: CompletedResult | FailedResult, detail?: string) => {
      const { id, attempt, timings } = result
      if (result.outcome === 'completed') {
        captures.inc({ outcome: 'completed' })
        observe(timings)
        logger.info({ id, attempt, bytes: result.bytes, timings, lists: current.lists }, 'capture completed')
      } else {
        captures.inc({ outcome: result.code })
        logger.info({ id, attempt, code: result.code, message: result.message, detail, timings }, 'capture failed')
      }
    },
    /** A fault of the service interrupted the attempt, which is handed back or lost. */
    interrupted: ({ id, attempt }: { id: string; attempt: number }, { by, detail, fate }: Interruption) => {
      interruptions.inc({ by, fate: fate.kind })
      const setting = by === 'overload' ? { setting: 'SHUTTERFLEET_EGRESS_CONNECTIONS_MAX' } : {}
      logger.warn({ id, attempt, by, detail, fate, ...setting }, 'attempt interrupted by a fault of the service')
    },
    held: (cause: HoldCause, reason: string) => {
      held.set({ cause }, 1)
      logger.error({ cause, reason }, 'worker takes no captures')
    },
    released: (cause: HoldCause) => {
      held.set({ cause }, 0)
      logger.info({ cause }, 'worker may take captures again')
    },
    /** The attempt could not be reported; the capture is redelivered. */
    lost: (id: string, error: AppError) => logger.error({ id, error: error.message }, 'attempt could not be reported'),
    state: (state: string) => logger.info({ state }, 'worker state'),
  }
}

/** See `createEvents`. */
export type Events = ReturnType<typeof createEvents>

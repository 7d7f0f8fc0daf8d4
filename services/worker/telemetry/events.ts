import type { AppError } from '#shared/errors/app-error.ts'
import type { QueueNotice } from '#shared/queue/connection.ts'
import type { CompletedResult, FailedResult, InstalledBrowser } from '#shared/queue/messages.ts'
import { createCertificateEvents } from '#shared/telemetry/certificate-events.ts'
import { createIdentityEvents } from '#shared/telemetry/identity-events.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { DeclaredMetrics, Metrics, MetricTable } from '#shared/telemetry/metrics.ts'
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
  readonly fate:
    | { readonly kind: 'handed-back'; readonly handBacks: number; readonly objectKeys?: string[] }
    | { readonly kind: 'lost' }
}

type Lists = Pick<BlockLists, 'key' | 'lists'>

const describeLists = ({ key, lists }: Lists) => ({
  lists: key,
  versions: lists.map(({ kind, name, version }) => `${kind}/${name}@${version}`),
})

const metricTable = {
  worker_captures_total: { counter: 'Attempts that ended, by how they ended.', labels: ['outcome'] },
  worker_hosts_total: { counter: 'Browser hosts that started, failed to start, or ended later.', labels: ['outcome'] },
  worker_interruptions_total: {
    counter:
      'Attempts that a fault of the service interrupted, by its source (overload: egress was at its connection limit, raise SHUTTERFLEET_EGRESS_CONNECTIONS_MAX) and by whether the attempt was handed back or lost.',
    labels: ['by', 'fate'],
  },
  worker_held: { gauge: '1 while the worker takes no captures for this cause.', labels: ['cause'] },
  worker_canary_connections_total: {
    counter:
      'Connections of pages to the loopback of the worker that bypassed their proxy; anything but 0 is a breach.',
  },
  worker_block_list_info: {
    gauge:
      'Always 1: a block list of the worker, at most a hundred of the operator; its version is the one named in the head of the list, or the start of its SHA-256.',
    labels: ['kind', 'name', 'version'],
  },
  worker_browser_info: { gauge: 'Always 1: an installed browser of the worker.', labels: ['browser', 'version'] },
  worker_browser_built_timestamp_seconds: {
    gauge:
      'Unix time at which an installed browser was built, by the modification time of its binary; absent if that cannot be it.',
    labels: ['browser', 'version'],
  },
} as const satisfies MetricTable

const browserEvents = (logger: Logger, metric: DeclaredMetrics<typeof metricTable>) => ({
  browsers: (installed: readonly InstalledBrowser[]) => {
    for (const { browser, version, builtAtMs } of installed) {
      metric.worker_browser_info.set({ browser, version }, 1)
      if (builtAtMs !== undefined)
        metric.worker_browser_built_timestamp_seconds.set({ browser, version }, builtAtMs / 1000)
      logger.info({ browser, version, ...(builtAtMs !== undefined && { built: new Date(builtAtMs) }) }, 'browser')
    }
  },
  browserUnreadable: (browser: string, cause: unknown) =>
    logger.warn({ browser, reason: String(cause) }, 'the version of a browser could not be read'),
})

/** One function per event of a worker; each writes its log line and its metrics. */
export const createEvents = (logger: Logger, metrics: Metrics) => {
  const metric = metrics.declare(metricTable)
  const current: { lists?: string } = {}
  return {
    ...createCertificateEvents(logger, metrics),
    ...createIdentityEvents(logger, metrics),
    unsafe: (setting: string, what: string) => logger.warn({ setting }, what),
    queue: ({ kind, detail }: QueueNotice) => logger.warn({ detail }, `nats ${kind}`),
    hostUp: (tookMs: number) => {
      metric.worker_hosts_total.inc({ outcome: 'up' })
      logger.info({ tookMs }, 'browser host is warm')
    },
    hostFailed: (error: AppError) => {
      metric.worker_hosts_total.inc({ outcome: 'failed' })
      logger.error({ error: error.message }, 'browser host failed to start')
    },
    /** A host ended or was killed; another is started. */
    hostGone: (reason: string) => {
      metric.worker_hosts_total.inc({ outcome: 'gone' })
      logger.warn({ reason }, 'browser host ended, starting another')
    },
    /** A page bypassed its proxy and reached the worker's loopback. */
    canaryReached: () => {
      metric.worker_canary_connections_total.inc()
      logger.error('a page reached the loopback of the worker around its proxy')
    },
    /** The block lists of all captures from now on. */
    blockLists: (loaded: Lists) => {
      metric.worker_block_list_info.reset()
      for (const { kind, name, version } of loaded.lists) metric.worker_block_list_info.set({ kind, name, version }, 1)
      logger.info(Object.assign(current, describeLists(loaded)), 'block lists loaded')
    },
    ...browserEvents(logger, metric),
    dropped: (id: string, reason: 'ended' | 'closed' | 'no-attempt-left' | 'unreadable') =>
      logger.info({ id, reason }, 'delivery dropped'),
    begun: (capture: { id: string; attempt: number; traceId: string | undefined }) =>
      logger.debug(capture, 'attempt begins'),
    ended: (result: CompletedResult | FailedResult, detail?: string) => {
      const { id, attempt, timings } = result
      if (result.outcome === 'completed') {
        metric.worker_captures_total.inc({ outcome: 'completed' })
        logger.info({ id, attempt, bytes: result.bytes, timings, lists: current.lists }, 'capture completed')
      } else {
        metric.worker_captures_total.inc({ outcome: result.code })
        logger.info({ id, attempt, code: result.code, detail, timings }, 'capture failed')
      }
    },
    /** A fault of the service interrupted the attempt, which is handed back or lost. */
    interrupted: ({ id, attempt }: { id: string; attempt: number }, { by, detail, fate }: Interruption) => {
      metric.worker_interruptions_total.inc({ by, fate: fate.kind })
      const setting = by === 'overload' ? { setting: 'SHUTTERFLEET_EGRESS_CONNECTIONS_MAX' } : {}
      logger.warn({ id, attempt, by, detail, fate, ...setting }, 'attempt interrupted by a fault of the service')
    },
    held: (cause: HoldCause, reason: string) => {
      metric.worker_held.set({ cause }, 1)
      logger.error({ cause, reason }, 'worker takes no captures')
    },
    released: (cause: HoldCause) => {
      metric.worker_held.set({ cause }, 0)
      logger.info({ cause }, 'worker may take captures again')
    },
    /** The attempt could not be reported; the capture is redelivered. */
    lost: (id: string, error: AppError) => logger.error({ id, error: error.message }, 'attempt could not be reported'),
    state: (state: string) => logger.info({ state }, 'worker state'),
  }
}

/** See `createEvents`. */
export type Events = ReturnType<typeof createEvents>

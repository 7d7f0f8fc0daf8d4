import type { Lane, Pool } from '#shared/capture/lane.ts'
import type { CaptureEnd } from '#shared/db/change-captures.ts'
import type { PoolCount } from '#shared/db/count-backlog.ts'
import type { Drift } from '#shared/db/recount-meters.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import type { QueueNotice } from '#shared/queue/connection.ts'
import type { Stored } from '#shared/queue/stored.ts'
import { maxMessageBytes } from '#shared/queue/topology.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import type { Ignored } from './reports/judge-reports.ts'
import { traceEnd } from './trace-end.ts'

/** The loops of the ledger. */
export type LoopName =
  | 'relay'
  | 'reaper'
  | 'unbegun'
  | 'streams'
  | 'backlog'
  | 'deletions'
  | 'removals'
  | 'orphans'
  | 'retention'
  | 'forgetting'
  | 'meters'

/** Identity of a capture in events. */
export type CaptureRef = { readonly id: string; readonly pool: Pool; readonly lane: Lane }

/** One that has ended, with the trace context of its request. */
export type EndedCaptureRef = CaptureRef & { readonly traceparent: string | null }

/**
 * What the reaper did with a capture: no worker began it, or not again after its worker died; no worker could be started for
 * it; its attempts were used up; or it was requeued.
 */
export type Reaped = 'never_begun' | 'not_startable' | 'given_up' | 'sent_again'

/** Tables with retention. */
export type RemovedRows = 'capture' | 'batch' | 'idempotency_key' | 'webhook_delivery'

/** Events for operators: one function each, for its log line and metric. */
export type Events = {
  readonly queueNotice: (notice: QueueNotice) => void
  /** `first`: the loop worked until now. */
  readonly loopFailed: (loop: LoopName, error: AppError, first: boolean) => void
  readonly loopRecovered: (loop: LoopName) => void
  readonly streamsMissing: () => void
  readonly streamsLostMessages: () => void
  readonly consumersMissing: () => void
  /** Large captures will fail: the NATS server takes messages of this many bytes at most. */
  readonly maxPayloadTooSmall: (bytes: number) => void
  readonly captureLost: (captures: number) => void
  readonly reportsApplied: (reports: number, ms: number) => void
  readonly reportsFailed: (reports: number, error: AppError) => void
  readonly reportIgnored: (id: string, reason: Ignored | 'unreadable' | 'unknown_capture') => void
  /** `part` of the size of their stream, from 0 to 1, is filled with reports that no ledger has read; at 1 the oldest are lost. */
  readonly reportsUnread: (reports: number, part: number) => void
  /** The first attempt began, `waitedMs` after the capture was accepted. */
  readonly begun: (capture: CaptureRef, waitedMs: number) => void
  readonly ended: (capture: EndedCaptureRef, end: CaptureEnd) => void
  readonly lost: (id: string, objectKeys: readonly string[]) => void
  readonly admitted: (captures: number) => void
  /** `ended`: the capture had ended, so there was nothing to publish. */
  readonly relayed: (result: Stored | 'ended') => void
  /** A turn of the relay ended; `failed` of the `taken` captures could not be published. */
  readonly relayTurned: (turn: { readonly taken: number; readonly failed: number }) => void
  /** The capture's message is larger than NATS takes; it fails. */
  readonly tooLarge: (id: string, error: AppError) => void
  readonly reaped: (capture: CaptureRef, action: Reaped) => void
  /** The published state of a pool breaks its schema and is ignored. */
  readonly stateUnreadable: (pool: Pool, cause: unknown) => void
  /** Messages, reports and objects of deleted captures were removed. */
  readonly deletionsFinished: (deletions: number) => void
  readonly rowsRemoved: (table: RemovedRows, rows: number) => void
  /** Objects in the store that nothing refers to. */
  readonly orphansFound: (objects: number) => void
  readonly objectsRemoved: (objects: number) => void
  readonly counted: (counts: readonly PoolCount[]) => void
  /** Meters of an account differ from its rows. */
  readonly metersDiffer: (accountId: string, drift: readonly Drift[]) => void
  /** All accounts with open lanes have been compared; `captures` is the sum of their drifts. */
  readonly metersChecked: (captures: number) => void
  readonly stopping: () => void
}

/** Part of the results stream that unread results may fill before that is logged. */
const warnAtPart = 0.5

const seconds = (ms: number) => ms / 1000
const queueBuckets = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800]
const captureBuckets = [0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 13, 20, 30, 60, 90]

const reportEvents = (log: Logger, metrics: Metrics) => {
  const applied = metrics.counter({ name: 'reports_applied_total', help: "Workers' reports written down" })
  const batch = metrics.histogram({
    name: 'report_batch_seconds',
    help: 'Time to write down one batch of reports and tell of its ends',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5],
  })
  const ignored = metrics.counter({
    name: 'reports_ignored_total',
    help: "Workers' reports that changed nothing because they may not",
    labels: ['reason'],
  })
  const unread = metrics.gauge({ name: 'reports_unread', help: 'Reports that no ledger has written down yet' })
  const unreadFill = metrics.gauge({
    name: 'reports_unread_ratio',
    help: "Part of the results stream's size that unread reports fill; at 1 the oldest are lost",
  })
  let isFilling = false
  const lost = metrics.counter({ name: 'captures_lost_total', help: 'Objects of attempts that were not the first' })
  return {
    reportsApplied: (reports, ms) => {
      applied.inc(reports)
      batch.observe(seconds(ms))
    },
    reportsFailed: (reports, error) => log.error({ reports, err: error }, 'reports could not be applied, retrying'),
    reportIgnored: (id, reason) => {
      ignored.inc({ reason })
      log.warn({ capture: id, reason }, 'report ignored')
    },
    reportsUnread: (reports, part) => {
      unread.set(reports)
      unreadFill.set(part)
      if (part >= warnAtPart && !isFilling) {
        log.warn(
          { reports, part },
          'unread results fill half of their stream; when it is full the oldest are lost: start more ledgers or raise SHUTTERFLEET_RESULTS_MAX_BYTES',
        )
      }
      isFilling = part >= warnAtPart
    },
    lost: (id, objectKeys) => {
      lost.inc(objectKeys.length)
      log.info({ capture: id, objects: objectKeys.length }, 'later success dropped, the first one counts')
    },
  } satisfies Partial<Events>
}

const captureEvents = (log: Logger, metrics: Metrics) => {
  const ended = metrics.counter({
    name: 'captures_ended_total',
    help: 'Captures that reached their end; outcome is completed or the error code',
    labels: ['queue', 'outcome'],
  })
  const processing = metrics.histogram({
    name: 'capture_processing_seconds',
    help: 'Time that workers took for captures that completed',
    labels: ['queue'],
    buckets: captureBuckets,
  })
  const waits = metrics.histogram({
    name: 'capture_queue_seconds',
    help: 'Time from accept until the first attempt began',
    labels: ['queue', 'lane'],
    buckets: queueBuckets,
  })
  const commit = metrics.histogram({
    name: 'capture_commit_seconds',
    help: "Time from a worker's result until its record was written",
    buckets: captureBuckets,
  })
  const reaped = metrics.counter({
    name: 'captures_reaped_total',
    help: 'Captures that the reaper had to act on',
    labels: ['queue', 'action'],
  })
  return {
    ended: (capture, end) => {
      const { id, pool, lane } = capture
      traceEnd(capture, end, Date.now())
      ended.inc({ queue: pool, outcome: end.status === 'completed' ? 'completed' : end.code })
      if (end.status === 'completed' && end.processingTimeMs !== undefined) {
        processing.observe({ queue: pool }, seconds(end.processingTimeMs))
      }
      if (end.timings?.['commit'] !== undefined) commit.observe({}, seconds(end.timings['commit']))
      const reason = end.status === 'failed' ? { code: end.code } : {}
      log.debug({ capture: id, pool, lane, status: end.status, ...reason }, 'ended')
    },
    begun: ({ pool, lane }, waitedMs) => waits.observe({ queue: pool, lane }, seconds(waitedMs)),
    reaped: (capture, action) => {
      reaped.inc({ queue: capture.pool, action })
      log.warn({ capture: capture.id, pool: capture.pool, lane: capture.lane, action }, 'reaped')
    },
  } satisfies Partial<Events>
}

/** A failed publish is retried after 3 s; a failure older than this is over, though nothing was published since. */
const outageGapMs = 15_000

/** Tracks for how long the outbox could not be published, in milliseconds. A turn that takes nothing changes nothing. */
export const createOutageMs = (now: () => number) => {
  let sinceMs: number | undefined
  let lastMs = 0
  return ({ taken, failed }: { taken: number; failed: number }): number => {
    const nowMs = now()
    if (failed > 0) lastMs = nowMs
    const isOver = failed === 0 && (taken > 0 || nowMs - lastMs > outageGapMs)
    sinceMs = isOver ? undefined : failed > 0 ? (sinceMs ?? nowMs) : sinceMs
    return sinceMs === undefined ? 0 : nowMs - sinceMs
  }
}

const outboxEvents = (log: Logger, metrics: Metrics) => {
  const admitted = metrics.counter({ name: 'captures_admitted_total', help: 'Captures that had waited for their turn' })
  const relayed = metrics.counter({
    name: 'relay_captures_total',
    help: 'Captures that the relay took from the outbox',
    labels: ['result'],
  })
  const unpublished = metrics.gauge({
    name: 'outbox_unpublished_seconds',
    help: 'Time for which captures of the outbox could not be put into the queue; 0 while they can',
  })
  const unpublishedMs = createOutageMs(() => performance.now())
  const removed = metrics.counter({ name: 'objects_removed_total', help: 'Objects deleted from the object store' })
  const rowsRemoved = metrics.counter({
    name: 'rows_removed_total',
    help: 'Rows removed because they were over',
    labels: ['table'],
  })
  const orphans = metrics.counter({
    name: 'orphan_objects_total',
    help: 'Objects found in the store that nothing refers to',
  })
  const deletions = metrics.counter({
    name: 'deletions_finished_total',
    help: 'Times that queue and object store were cleared of a deleted capture',
  })
  return {
    admitted: (captures) => admitted.inc(captures),
    relayed: (result) => relayed.inc({ result }),
    relayTurned: (turn) => unpublished.set(seconds(unpublishedMs(turn))),
    tooLarge: (id, error) => {
      relayed.inc({ result: 'too_large' })
      log.error({ capture: id, err: error }, 'capture failed: larger than max_payload of the NATS server')
    },
    rowsRemoved: (table, rows) => rowsRemoved.inc({ table }, rows),
    orphansFound: (objects) => {
      orphans.inc(objects)
      log.warn({ objects }, 'orphan objects found, removing them')
    },
    deletionsFinished: (captures) => deletions.inc(captures),
    objectsRemoved: (objects) => removed.inc(objects),
    streamsMissing: () => log.warn('NATS streams missing, recreating them'),
    streamsLostMessages: () => log.warn('NATS streams lost messages, publishing their captures again'),
    consumersMissing: () => log.warn('NATS consumers missing, recreating them'),
    maxPayloadTooSmall: (bytes) =>
      log.warn(
        { bytes, needed: maxMessageBytes },
        'max_payload of the NATS server is too small: large captures will fail',
      ),
    captureLost: (captures) => log.warn({ captures }, 'queue lost captures, publishing them again'),
  } satisfies Partial<Events>
}

const loopEvents = (log: Logger, metrics: Metrics) => {
  const failures = metrics.counter({
    name: 'ledger_loop_failures_total',
    help: "Turns of the ledger's loops that failed",
    labels: ['loop'],
  })
  const backlog = metrics.gauge({
    name: 'backlog_captures',
    help: 'Captures that have not ended',
    labels: ['queue', 'status'],
  })
  const oldest = metrics.gauge({
    name: 'backlog_oldest_seconds',
    help: 'Age of the oldest capture that has not begun',
    labels: ['queue'],
  })
  const drift = metrics.gauge({
    name: 'meter_drift_captures',
    help: 'Captures by which the meters of accounts with open lanes differ from their rows; anything but 0 wants a recount',
  })
  return {
    metersDiffer: (accountId, differences) =>
      log.warn(
        { account: accountId, drift: differences },
        'meters differ from rows; recount them in the administration or with doctor --recount',
      ),
    metersChecked: (captures) => drift.set(captures),
    loopFailed: (loop, error, first) => {
      failures.inc({ loop })
      if (first) log.error({ loop, err: error }, 'loop failed, retrying')
    },
    loopRecovered: (loop) => log.info({ loop }, 'loop recovered'),
    counted: (counts) => {
      for (const { pool, pending, processing, oldestMs } of counts) {
        backlog.set({ queue: pool, status: 'pending' }, pending)
        backlog.set({ queue: pool, status: 'processing' }, processing)
        oldest.set({ queue: pool }, seconds(oldestMs))
      }
    },
    stateUnreadable: (pool, cause) => log.warn({ pool, reason: String(cause) }, 'pool state unreadable, ignoring it'),
    queueNotice: ({ kind, detail }) => log.warn({ kind, detail }, 'NATS'),
    stopping: () => log.info('stopping'),
  } satisfies Partial<Events>
}

/** Declares the metrics and makes the events. */
export const createEvents = (log: Logger, metrics: Metrics): Events => ({
  ...reportEvents(log, metrics),
  ...captureEvents(log, metrics),
  ...outboxEvents(log, metrics),
  ...loopEvents(log, metrics),
})

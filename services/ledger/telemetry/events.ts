import { type Lane, type Pool, pools } from '#shared/capture/lane.ts'
import { workerStages } from '#shared/capture/stages.ts'
import type { CaptureEnd } from '#shared/db/change-captures.ts'
import type { PoolCount } from '#shared/db/count-backlog.ts'
import type { PoolPause } from '#shared/db/pool-pauses.ts'
import type { AccountCount } from '#ledger/db/busiest-accounts.ts'
import type { Drift } from '#shared/db/recount-meters.ts'
import { captureErrorCodes, catalog } from '#shared/errors/catalog.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import type { QueueNotice } from '#shared/queue/connection.ts'
import type { Stored } from '#shared/queue/stored.ts'
import { maxMessageBytes } from '#shared/queue/topology.ts'
import { createCertificateEvents } from '#shared/telemetry/certificate-events.ts'
import { createIdentityEvents } from '#shared/telemetry/identity-events.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { DeclaredMetrics, Metrics, MetricTable } from '#shared/telemetry/metrics.ts'
import { readSampledTraceId, readTraceId } from '#shared/telemetry/trace.ts'
import { createStoreEvents } from '#shared/process/store-watch.ts'
import { traceEnd } from './trace-end.ts'

/** Why a report is ignored: a worker of another pool, another capture's token or object key, or the failure of an earlier attempt. */
export type IgnoreReason = 'pool' | 'token' | 'object_key' | 'late_failure'

const loopNames = [
  'partitions',
  'relay',
  'reaper',
  'unstarted',
  'streams',
  'backlog',
  'prediction',
  'pauses',
  'accounts',
  'deletions',
  'removals',
  'erasures',
  'orphans',
  'retention',
  'receivers',
  'meters',
] as const

/** The loops of the ledger. */
export type LoopName = (typeof loopNames)[number]

/** Identity of a capture in events. */
type CaptureRef = { readonly id: string; readonly pool: Pool; readonly lane: Lane }

/** A capture with the trace context of its request. */
type TracedCaptureRef = CaptureRef & { readonly traceparent: string | null }

/**
 * Why the reaper failed a capture: no worker began it, or began it again after its worker had died; no worker could be started
 * for it; its attempts were used up. Or `retried`: the reaper requeued it.
 */
export type ReapAction = 'never_begun' | 'not_startable' | 'given_up' | 'retried'

/** Tables with retention. */
export type RemovedRows =
  | 'capture'
  | 'capture_count'
  | 'batch'
  | 'idempotency_key'
  | 'webhook_delivery'
  | 'usage_day'
  | 'accepted_count'
  | 'sign_in_link'
  | 'console_session'

/** Part of the results stream filled with unread results from which a warning is logged. */
const warnAtShare = 0.5

const seconds = (ms: number) => ms / 1000
/** Bounds in seconds. Those of objectives are exact: 2 s for a capture, 10 s until it begins, 120 s on a new node. */
const queueBuckets = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800]
const captureBuckets = [0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20, 30, 60, 90, 120]
const commitBuckets = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120]

const metricTable = {
  reports_applied_total: { counter: "Workers' reports applied" },
  report_batch_seconds: {
    histogram: 'Time to apply one batch of reports and publish its completions',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5],
  },
  reports_ignored_total: {
    counter: "Workers' reports that were ignored because they were not permitted to change the capture",
    labels: ['reason'],
  },
  reports_unread: { gauge: 'Reports that no ledger has applied yet' },
  reports_unread_ratio: {
    gauge: "Part of the results stream's size that is filled with unread reports; at 1 the oldest are lost",
  },
  surplus_objects_total: {
    counter: 'Objects of later successes of a capture, which are deleted: the first one counts',
  },
  captures_ended_total: {
    counter:
      'Captures that reached their end; outcome is completed or the error code, fault whose it was: service, target, caller, or none',
    labels: ['queue', 'outcome', 'fault'],
    initial: pools.flatMap((queue) => [
      { queue, outcome: 'completed', fault: 'none' },
      ...captureErrorCodes.map((outcome) => ({ queue, outcome, fault: 'service' })),
    ]),
  },
  capture_processing_seconds: {
    histogram: 'Time that workers took for captures that completed',
    labels: ['queue'],
    buckets: captureBuckets,
    hasExemplars: true,
  },
  capture_stage_seconds: {
    histogram:
      'Time that the stages of completed captures take; not of workers, of which each capture through a proxy is one',
    labels: ['stage'],
    buckets: commitBuckets,
  },
  capture_queue_seconds: {
    histogram: 'Time from accept until the first attempt began',
    labels: ['queue', 'lane'],
    buckets: queueBuckets,
    hasExemplars: true,
  },
  capture_commit_seconds: {
    histogram: "Time from a worker's result until its record was written",
    buckets: commitBuckets,
  },
  captures_reaped_total: { counter: 'Captures that the reaper failed or requeued', labels: ['queue', 'action'] },
  captures_admitted_total: { counter: 'Captures that had waited for their turn' },
  relay_captures_total: { counter: 'Captures that the relay took from the outbox', labels: ['result'] },
  outbox_unpublished_seconds: {
    gauge: 'Time for which captures of the outbox could not be put into the queue; 0 while they can',
  },
  objects_removed_total: { counter: 'Objects deleted from the object store' },
  rows_removed_total: { counter: 'Rows removed after their retention', labels: ['table'] },
  orphan_objects_found_total: { counter: 'Objects found in the store that no record refers to' },
  deletions_finished_total: {
    counter: 'Deletions whose messages and objects were removed from queue and object store',
  },
  ledger_loop_failures_total: {
    counter: "Turns of the ledger's loops that failed",
    labels: ['loop'],
    initial: loopNames.map((loop) => ({ loop })),
  },
  backlog_captures: { gauge: 'Captures that have not ended', labels: ['queue', 'status'] },
  account_captures_waiting: {
    gauge: 'Captures that have not begun, of the ten accounts with most captures in the queue',
    labels: ['account'],
  },
  account_captures_processing: { gauge: 'Captures that workers have begun, of the same accounts', labels: ['account'] },
  account_captures_completed_total: {
    counter: 'Charged captures that completed in the current period, of the same accounts',
    labels: ['account'],
  },
  account_held_seconds: {
    gauge:
      'Time for which the changes of an account have been held up by its move to another cell, of the longest; 0 if none is',
  },
  backlog_oldest_seconds: { gauge: 'Age of the oldest capture that has not begun', labels: ['queue'] },
  captures_predicted: {
    gauge: 'Captures that a pattern of the past predicts for the present minute; 0 without one',
    labels: ['queue'],
  },
  pool_paused: { gauge: 'Whether an operator has paused the pool: 1 or 0', labels: ['queue'] },
  meter_drift_captures: {
    gauge:
      'Captures by which the meters of accounts with open lanes differ from their rows; anything but 0 requires a recount',
  },
} as const satisfies MetricTable

type LedgerMetrics = DeclaredMetrics<typeof metricTable>

const reportEvents = (log: Logger, metric: LedgerMetrics) => {
  let isFilling = false
  return {
    reportsApplied: (reports: number, ms: number) => {
      metric.reports_applied_total.inc(reports)
      metric.report_batch_seconds.observe(seconds(ms))
    },
    reportsFailed: (reports: number, error: AppError) =>
      log.error({ reports, err: error }, 'reports could not be applied, retrying'),
    reportIgnored: (id: string, reason: IgnoreReason | 'unreadable' | 'unknown_capture') => {
      metric.reports_ignored_total.inc({ reason })
      log.warn({ capture: id, reason }, 'report ignored')
    },
    /** `share` of the stream's size, from 0 to 1, is filled with `reports` unread reports; at 1 the oldest are lost. */
    reportsUnread: (reports: number, share: number) => {
      metric.reports_unread.set(reports)
      metric.reports_unread_ratio.set(share)
      if (share >= warnAtShare && !isFilling) {
        log.warn(
          { reports, share },
          'unread results fill half of their stream; when it is full the oldest are lost: start more ledgers or raise SHUTTERFLEET_RESULTS_MAX_BYTES',
        )
      }
      isFilling = share >= warnAtShare
    },
    lost: (id: string, objectKeys: readonly string[]) => {
      metric.surplus_objects_total.inc(objectKeys.length)
      log.info({ capture: id, objects: objectKeys.length }, 'later success dropped, the first one counts')
    },
  }
}

const observeStages = (metric: LedgerMetrics, timings: NonNullable<CaptureEnd['timings']>) => {
  for (const stage of workerStages) {
    const ms = timings[stage]
    if (ms !== undefined) metric.capture_stage_seconds.observe({ stage }, seconds(ms))
  }
}

const captureEvents = (log: Logger, metric: LedgerMetrics) => ({
  ended: (capture: TracedCaptureRef, end: CaptureEnd) => {
    const { id, pool, lane } = capture
    traceEnd(capture, end, Date.now())
    metric.captures_ended_total.inc({
      queue: pool,
      outcome: end.status === 'completed' ? 'completed' : end.code,
      fault: end.status === 'completed' ? 'none' : (end.blame ?? catalog[end.code].blame),
    })
    if (end.status === 'completed' && end.processingTimeMs !== undefined) {
      const sampled = readSampledTraceId(capture.traceparent)
      metric.capture_processing_seconds.observe({ queue: pool }, seconds(end.processingTimeMs), sampled)
    }
    if (end.status === 'completed') observeStages(metric, end.timings ?? {})
    if (end.timings?.['commit'] !== undefined) metric.capture_commit_seconds.observe(seconds(end.timings['commit']))
    const reason = end.status === 'failed' ? { code: end.code } : {}
    const traceId = readTraceId(capture.traceparent)
    log.debug({ capture: id, traceId, pool, lane, status: end.status, ...reason }, 'ended')
  },
  /** The first attempt began, `waitedMs` after the capture was accepted. */
  begun: ({ pool, lane, traceparent }: TracedCaptureRef, waitedMs: number) =>
    metric.capture_queue_seconds.observe({ queue: pool, lane }, seconds(waitedMs), readSampledTraceId(traceparent)),
  reaped: (capture: CaptureRef, action: ReapAction) => {
    metric.captures_reaped_total.inc({ queue: capture.pool, action })
    log.warn({ capture: capture.id, pool: capture.pool, lane: capture.lane, action }, 'reaped')
  },
})

/** A failed publish is retried after 3 s; after this long without a failure the outage is over, even if nothing was published. */
const outageGapMs = 15_000

/** Tracks for how long the outbox could not be published, in milliseconds. An empty round does not end an outage by itself. */
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

const outboxEvents = (log: Logger, metric: LedgerMetrics) => {
  const unpublishedMs = createOutageMs(() => performance.now())
  return {
    admitted: (captures: number) => metric.captures_admitted_total.inc(captures),
    /** `ended`: the capture had ended, so there was nothing to publish. */
    relayed: (result: Stored | 'ended') => metric.relay_captures_total.inc({ result }),
    /** A round of the relay ended; `failed` of the `taken` captures could not be published. */
    relayRoundEnded: (round: { readonly taken: number; readonly failed: number }) =>
      metric.outbox_unpublished_seconds.set(seconds(unpublishedMs(round))),
    tooLarge: (id: string, error: AppError) => {
      metric.relay_captures_total.inc({ result: 'too_large' })
      log.error({ capture: id, err: error }, 'capture failed: larger than max_payload of the NATS server')
    },
    rowsRemoved: (table: RemovedRows, rows: number) => metric.rows_removed_total.inc({ table }, rows),
    orphansFound: (objects: number) => {
      metric.orphan_objects_found_total.inc(objects)
      log.warn({ objects }, 'orphan objects found, removing them')
    },
    deletionsFinished: (captures: number) => metric.deletions_finished_total.inc(captures),
    objectsRemoved: (objects: number) => metric.objects_removed_total.inc(objects),
    accountErased: (id: string) => log.info({ account: id }, 'account erased'),
    streamsMissing: () => log.warn('NATS streams missing, recreating them'),
    streamsLostMessages: () => log.warn('NATS streams lost messages, publishing their captures again'),
    consumersMissing: () => log.warn('NATS consumers missing, recreating them'),
    maxPayloadTooSmall: (bytes: number) =>
      log.warn(
        { bytes, needed: maxMessageBytes },
        'max_payload of the NATS server is too small: large captures will fail',
      ),
    captureLost: (captures: number) => log.warn({ captures }, 'queue lost captures, publishing them again'),
  }
}

const accountMetrics = [
  'account_captures_waiting',
  'account_captures_processing',
  'account_captures_completed_total',
] as const

const loopEvents = (log: Logger, metric: LedgerMetrics) => ({
  metersDiffer: (accountId: string, differences: readonly Drift[]) =>
    log.warn(
      { account: accountId, drift: differences },
      'meters differ from rows; recount them in the administration or with doctor --recount',
    ),
  /** All accounts with open lanes have been compared; `captures` is the sum of their drifts. */
  metersChecked: (captures: number) => metric.meter_drift_captures.set(captures),
  /** `first`: the previous turn of the loop succeeded. */
  loopFailed: (loop: LoopName, error: AppError, first: boolean) => {
    metric.ledger_loop_failures_total.inc({ loop })
    if (first) log.error({ loop, err: error }, 'loop failed, retrying')
  },
  loopRecovered: (loop: LoopName) => log.info({ loop }, 'loop recovered'),
  counted: (counts: readonly PoolCount[]) => {
    for (const { pool, pending, processing, oldestMs } of counts) {
      metric.backlog_captures.set({ queue: pool, status: 'pending' }, pending)
      metric.backlog_captures.set({ queue: pool, status: 'processing' }, processing)
      metric.backlog_oldest_seconds.set({ queue: pool }, seconds(oldestMs))
    }
  },
  /** `captures` are predicted for the present minute. */
  arrivalsPredicted: (pool: Pool, captures: number) => metric.captures_predicted.set({ queue: pool }, captures),
  poolPaused: ({ pool, by, reason }: Pick<PoolPause, 'pool' | 'by' | 'reason'>) =>
    log.info({ pool, by, reason }, 'pool paused'),
  pausesRead: (pauses: readonly Pick<PoolPause, 'pool'>[]) => {
    for (const pool of pools)
      metric.pool_paused.set({ queue: pool }, Number(pauses.some((pause) => pause.pool === pool)))
  },
  /** Longest first. */
  heldAccountsRead: ([longest]: readonly { readonly seconds: number }[]) =>
    metric.account_held_seconds.set(longest?.seconds ?? 0),
  /** Replaces the accounts of the turn before: the number of series is bounded. */
  accountsCounted: (accounts: readonly AccountCount[]) => {
    for (const each of accountMetrics) metric[each].reset()
    for (const { account, waiting, processing, completed } of accounts) {
      metric.account_captures_waiting.set({ account }, waiting)
      metric.account_captures_processing.set({ account }, processing)
      metric.account_captures_completed_total.inc({ account }, completed)
    }
  },
  stateUnreadable: (pool: Pool, cause: unknown) =>
    log.warn({ pool, reason: String(cause) }, 'pool state unreadable, ignoring it'),
  queueNotice: ({ kind, detail }: QueueNotice) => log.warn({ kind, detail }, 'NATS'),
  stopping: () => log.info('stopping'),
})

/** Declares the metrics and creates the events: one function per event, which writes its log line and its metrics. */
export const createEvents = (log: Logger, metrics: Metrics) => {
  const metric = metrics.declare(metricTable)
  return {
    ...reportEvents(log, metric),
    ...captureEvents(log, metric),
    ...outboxEvents(log, metric),
    ...loopEvents(log, metric),
    ...createStoreEvents(log, metrics),
    ...createCertificateEvents(log, metrics),
    ...createIdentityEvents(log, metrics),
  }
}

/** See `createEvents`. */
export type Events = ReturnType<typeof createEvents>

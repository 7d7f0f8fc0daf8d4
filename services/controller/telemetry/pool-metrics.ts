import type { Pool } from '#shared/capture/lane.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import { decisionKinds, reasons, troubles, workerStates } from '#controller/decide/pool.ts'

/** Labels of a pool: the queue that it serves, and the name of its BrowserPool (without Kubernetes the queue's name). */
export type PoolLabels = { readonly queue: Pool; readonly browserpool: string }

/** Names of `PoolLabels`. */
export const poolLabelNames = ['queue', 'browserpool'] as const

/** Values of the label `state`; only a Job can be `lost`. */
export const stateLabels = [...workerStates, 'lost'] as const

/** Values of the label `source`: reads of a tick that can fail. */
export const readSources = ['workers', 'backlog', 'depth'] as const

/** Values of the label `end`; only Jobs succeed, fail, vanish or are given up. */
const workerEnds = ['expected', 'unexpected', 'succeeded', 'failed', 'vanished', 'given-up'] as const

const declareSizes = (metrics: Metrics) => ({
  workers: metrics.gauge({
    name: 'pool_workers',
    help: 'Workers, Jobs included, by state',
    labels: [...poolLabelNames, 'state'],
  }),
  stuck: metrics.gauge({
    name: 'pool_workers_stuck',
    help: 'Workers that cannot start or were requested but not created, by cause; for Jobs at least 1 while none can start',
    labels: [...poolLabelNames, 'trouble'],
  }),
  desired: metrics.gauge({
    name: 'pool_workers_desired',
    help: 'Workers that the load requires, within the bounds',
    labels: poolLabelNames,
  }),
  min: metrics.gauge({
    name: 'pool_workers_min',
    help: 'Lower bound of the number of workers; for Jobs the spares',
    labels: poolLabelNames,
  }),
  max: metrics.gauge({
    name: 'pool_workers_max',
    help: 'Upper bound of the number of workers',
    labels: poolLabelNames,
  }),
  slots: metrics.gauge({
    name: 'pool_slots',
    help: 'Slots of workers that are ready or draining; each Job has one',
    labels: poolLabelNames,
  }),
  busy: metrics.gauge({
    name: 'pool_slots_busy',
    help: 'Slots that serve a capture; each Job has one',
    labels: poolLabelNames,
  }),
  waiting: metrics.gauge({
    name: 'pool_captures_waiting',
    help: 'Captures that wait for a slot',
    labels: poolLabelNames,
  }),
})

const declareTurns = (metrics: Metrics) => ({
  unknown: metrics.counter({
    name: 'pool_reads_unknown_total',
    help: 'Reconciliations in which a number could not be read',
    labels: [...poolLabelNames, 'source'],
  }),
  decisions: metrics.counter({
    name: 'pool_decisions_total',
    help: 'Decisions by what was decided and why',
    labels: [...poolLabelNames, 'decision', 'reason'],
  }),
  reconcileSeconds: metrics.histogram({
    name: 'pool_reconcile_seconds',
    help: 'Time of one reconciliation: observe, decide, act',
    labels: poolLabelNames,
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
  }),
  reconcileFailures: metrics.counter({
    name: 'pool_reconcile_failures_total',
    help: 'Reconciliations that ended with an error',
    labels: poolLabelNames,
  }),
  startSeconds: metrics.histogram({
    name: 'pool_worker_start_seconds',
    help: 'Time from the start of a worker until it was ready',
    labels: poolLabelNames,
    buckets: [0.5, 1, 2, 3, 5, 8, 13, 21, 34, 60],
  }),
  ended: metrics.counter({
    name: 'pool_workers_ended_total',
    help: 'Workers that ended: expected if the controller stopped them; Jobs by their result, given-up ones when they are given up',
    labels: [...poolLabelNames, 'end'],
  }),
})

/** Declares the metrics of all pools, including those of single-use workers. */
export const createPoolMetrics = (metrics: Metrics) => ({ ...declareSizes(metrics), ...declareTurns(metrics) })

/** See `createPoolMetrics`. */
export type PoolMetrics = ReturnType<typeof createPoolMetrics>

/** Removes every series of a pool. */
export const forgetPool = (on: PoolMetrics, pool: PoolLabels): void => {
  const { desired, min, max, slots, busy, waiting, reconcileFailures, reconcileSeconds, startSeconds } = on
  for (const metric of [desired, min, max, slots, busy, waiting, reconcileFailures, reconcileSeconds, startSeconds])
    metric.remove(pool)
  for (const source of readSources) on.unknown.remove({ ...pool, source })
  for (const end of workerEnds) on.ended.remove({ ...pool, end })
  for (const state of stateLabels) on.workers.remove({ ...pool, state })
  for (const trouble of troubles) on.stuck.remove({ ...pool, trouble })
  for (const reason of reasons) {
    for (const decision of decisionKinds) on.decisions.remove({ ...pool, decision, reason })
  }
}

import { lanes, type Pool } from '#shared/capture/lane.ts'
import type { DeclaredMetrics, MetricTable } from '#shared/telemetry/metrics.ts'
import {
  decisionKinds,
  type Observation,
  type Reason,
  reasons,
  troubles,
  workerStates,
} from '#controller/decide/pool.ts'
import { countUnfinished } from '#controller/decide/required-capacity.ts'

/** Labels of a pool: the queue that it serves, and the name of its BrowserPool (without Kubernetes the queue's name). */
export type PoolLabels = { readonly queue: Pool; readonly browserpool: string }

/** Names of `PoolLabels`. */
export const poolLabels = ['queue', 'browserpool'] as const

/** Values of the label `state`; only a Job can be `lost`. */
export const stateLabels = [...workerStates, 'lost'] as const

/** Values of the label `source`: reads of a tick that can fail. */
export const readSources = ['workers', 'backlog', 'depth'] as const

/** Values of the label `end`; only Jobs succeed, fail, vanish or are given up. */
const workerEnds = ['expected', 'unexpected', 'succeeded', 'failed', 'vanished', 'given-up'] as const

/** Values of the label `reason` of pools whose size is held because measurements are missing. */
export const freezeReasons = ['backlog-unknown', 'workers-unknown', 'missing-heartbeats'] as const satisfies Reason[]

/** Values of the label `direction`. */
export const scaleDirections = ['up', 'down'] as const

/** The metrics of all pools, including those of single-use workers. */
export const poolMetricTable = {
  pool_workers: { gauge: 'Workers, Jobs included, by state', labels: [...poolLabels, 'state'] },
  pool_workers_stuck: {
    gauge:
      'Workers that cannot start or were requested but not created, by cause; for Jobs at least 1 while none can start',
    labels: [...poolLabels, 'trouble'],
  },
  pool_workers_desired: { gauge: 'Workers that the load requires, within the bounds', labels: poolLabels },
  pool_workers_min: { gauge: 'Lower bound of the number of workers; for Jobs the spares', labels: poolLabels },
  pool_workers_max: { gauge: 'Upper bound of the number of workers', labels: poolLabels },
  pool_slots: { gauge: 'Slots of workers that are ready or draining; each Job has one', labels: poolLabels },
  pool_slots_busy: { gauge: 'Slots that serve a capture; each Job has one', labels: poolLabels },
  pool_captures_waiting: { gauge: 'Captures that wait for a slot', labels: poolLabels },
  pool_captures_unfinished: { gauge: 'Captures of the queue that wait or run', labels: poolLabels },
  pool_lane_captures_unfinished: {
    gauge: "Captures of the queue that wait or run, by lane, by the ledger's count alone",
    labels: [...poolLabels, 'lane'],
  },
  pool_lane_oldest_seconds: {
    gauge: "Age of the oldest capture of the queue that has not begun, by lane, by the ledger's count",
    labels: [...poolLabels, 'lane'],
  },
  pool_lane_objective_seconds: {
    gauge: 'Longest time that a capture should wait for a worker, by lane; none for Jobs',
    labels: [...poolLabels, 'lane'],
  },
  pool_reads_unknown_total: {
    counter: 'Reconciliations in which a number could not be read',
    labels: [...poolLabels, 'source'],
  },
  pool_decisions_total: {
    counter: 'Reconciliations by what was decided and why',
    labels: [...poolLabels, 'decision', 'reason'],
  },
  pool_scale_events_total: {
    counter:
      'Decisions to start or to drain workers, by direction: up or down; Jobs end by themselves and count only up',
    labels: [...poolLabels, 'direction'],
  },
  pool_reconcile_seconds: {
    histogram: 'Time of one reconciliation: observe, decide, act',
    labels: poolLabels,
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
  },
  pool_reconcile_failures_total: { counter: 'Reconciliations that ended with an error', labels: poolLabels },
  pool_worker_start_seconds: {
    histogram: 'Time from the start of a worker until it was ready',
    labels: poolLabels,
    buckets: [0.5, 1, 2, 3, 5, 7.5, 10, 15, 20, 30, 60, 120, 300, 600],
  },
  pool_workers_ended_total: {
    counter:
      'Workers that ended: expected if the controller stopped them; Jobs by their result, given-up ones when they are given up',
    labels: [...poolLabels, 'end'],
  },
} as const satisfies MetricTable

/** See `poolMetricTable`. */
export type PoolMetrics = DeclaredMetrics<typeof poolMetricTable>

/** Values of the labels that metrics of a pool have besides `PoolLabels`. */
const labelValues = {
  state: stateLabels,
  trouble: troubles,
  source: readSources,
  decision: decisionKinds,
  direction: scaleDirections,
  reason: reasons,
  lane: lanes,
  end: workerEnds,
}

/** Sets what waits and runs in the queue, and how long; while the backlog is unknown, it stays. */
export const measureUnfinished = (
  metric: DeclaredMetrics<typeof poolMetricTable>,
  pool: PoolLabels,
  { backlog, depth }: Pick<Observation, 'backlog' | 'depth'>,
): void => {
  if (backlog === 'unknown') return
  metric.pool_captures_unfinished.set(pool, countUnfinished(backlog, depth))
  for (const lane of lanes) {
    const { pending, processing, oldestMs } = backlog.lanes[lane]
    metric.pool_lane_captures_unfinished.set({ ...pool, lane }, pending + processing)
    metric.pool_lane_oldest_seconds.set({ ...pool, lane }, oldestMs / 1000)
  }
}

type PoolMetricTable = Readonly<
  Record<string, { readonly labels: readonly (keyof PoolLabels | keyof typeof labelValues)[] }>
>

/** Removes every series of a pool from the metrics of a table. */
export const forgetPool = <T extends PoolMetricTable>(
  table: T,
  declared: { readonly [N in keyof T]: { remove(series: Readonly<Record<string, string>>): void } },
  pool: PoolLabels,
): void => {
  for (const [name, { labels }] of Object.entries(table)) {
    let series: Readonly<Record<string, string>>[] = [pool]
    for (const label of labels) {
      if (label === 'queue' || label === 'browserpool') continue
      series = series.flatMap((each) => labelValues[label].map((value) => ({ ...each, [label]: value })))
    }
    for (const each of series) declared[name]?.remove(each)
  }
}

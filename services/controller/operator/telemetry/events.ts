import type { Pool } from '#shared/capture/lane.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import type { BrowserPool, BrowserPoolStatus } from '#shared/kube/browser-pool.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import type { ReflectorEvents } from '#controller/kube/reflector.ts'
import type { Resource } from '#shared/kube/resource.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { DeclaredMetrics, Metrics, MetricTable } from '#shared/telemetry/metrics.ts'
import type { ApiRequest } from '#controller/operator/watch/count-requests.ts'
import type { PoolOccurrence } from '#controller/operator/status/status-change.ts'

/** Why no worker serves a queue and none will be started. */
export const unservedReasons = ['no-pool', 'paused', 'no-replicas'] as const

/** One of `unservedReasons`. */
export type UnservedReason = (typeof unservedReasons)[number]

const metricTable = {
  operator_leads: { gauge: 'Whether this controller leads, 1 or 0' },
  operator_watches_ended_total: {
    counter: 'Watches of the API server that ended, by kind and cause',
    labels: ['kind', 'end'],
  },
  operator_lists_total: { counter: 'Lists of a kind of object', labels: ['kind'] },
  operator_failures_total: {
    counter: 'Failed writes to the API server, which are retried, by what was written',
    labels: ['what'],
  },
  operator_queue_unserved_captures: {
    gauge: 'Captures that wait in a queue that no worker serves and none is going to, by reason',
    labels: ['queue', 'reason'],
  },
  operator_pool_condition: {
    gauge: 'Conditions of a BrowserPool with their reason: 1 if the status is True, else 0',
    labels: ['queue', 'browserpool', 'condition', 'reason'],
  },
  operator_api_requests_total: {
    counter: 'Requests to the Kubernetes API server; code none: no response',
    labels: ['method', 'resource', 'code'],
  },
  operator_api_request_seconds: {
    histogram: 'Time until the Kubernetes API server began to respond',
    labels: ['method'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30],
  },
} as const satisfies MetricTable

/** Sets the gauge for each condition of a pool, and removes those that the pool no longer has. */
const createConditions = (gauge: DeclaredMetrics<typeof metricTable>['operator_pool_condition']) => {
  const shown = new Map<string, Parameters<typeof gauge.remove>[0][]>()
  return ({ metadata, spec }: BrowserPool, status: BrowserPoolStatus | undefined) => {
    const { name } = metadata
    for (const labels of shown.get(name) ?? []) gauge.remove(labels)
    shown.delete(name)
    if (!status) return
    const all = (status.conditions ?? []).map(({ type, reason, status: value }) => {
      const labels = { queue: spec.pool, browserpool: name, condition: type, reason }
      gauge.set(labels, Number(value === 'True'))
      return labels
    })
    shown.set(name, all)
  }
}

/** Creates the events of the controller on Kubernetes; those of its pools are `ControllerEvents`. */
export const createOperatorEvents = (logger: Logger, metrics: Metrics) => {
  const metric = metrics.declare(metricTable)
  /** The reason logged last, by queue. */
  const unserved = new Map<string, UnservedReason>()
  const failed = (what: 'election' | 'apply' | 'status', error: AppError, fields: object) => {
    metric.operator_failures_total.inc({ what })
    logger.warn({ ...fields, error: error.message, outcome: outcomeOf(error) }, `${what} failed`)
  }
  metric.operator_leads.set(0)
  return {
    termBegan: () => {
      metric.operator_leads.set(1)
      logger.info('became leader')
    },
    termEnded: () => {
      metric.operator_leads.set(0)
      metric.operator_queue_unserved_captures.reset()
      unserved.clear()
      logger.info('lost leadership')
    },
    /** An attempt to acquire or renew the Lease failed. */
    electionFailed: (error: AppError) => failed('election', error, {}),
    reflectionOf: ({ kind }: Resource): ReflectorEvents => ({
      listed: (objects) => {
        metric.operator_lists_total.inc({ kind })
        logger.debug({ kind, objects }, 'listed')
      },
      ended: (end, waitMs, error) => {
        metric.operator_watches_ended_total.inc({ kind, end })
        const level = end === 'closed' ? 'debug' : 'warn'
        logger[level]({ kind, waitMs, error: error?.message }, `watch ${end}`)
      },
    }),
    /** The children of a pool could not be applied. */
    applyFailed: (pool: string, error: AppError, retryMs: number) => failed('apply', error, { pool, retryMs }),
    statusFailed: (pool: string, error: AppError) => failed('status', error, { pool }),
    /** Logs a Kubernetes event of a pool. */
    occurred: (pool: string, { type, reason, note }: PoolOccurrence) =>
      logger[type === 'Warning' ? 'warn' : 'info']({ pool, note }, reason),
    /** Reports why a queue is not served, if it is not, and how many captures wait in it. */
    queueChecked: (queue: Pool, reason: UnservedReason | undefined, waiting = 0) => {
      for (const each of unservedReasons)
        metric.operator_queue_unserved_captures.set({ queue, reason: each }, each === reason ? waiting : 0)
      const before = unserved.get(queue)
      if (!reason || waiting === 0) unserved.delete(queue)
      else unserved.set(queue, reason)
      if (reason && waiting > 0 && reason !== before)
        logger.warn({ queue, reason, waiting }, 'queue is not served: its captures fail after the proxied wait')
    },
    /** Reports the status of a pool; undefined once the pool is removed. */
    statusReported: createConditions(metric.operator_pool_condition),
    requested: ({ method, resource, code, ms }: ApiRequest) => {
      metric.operator_api_requests_total.inc({ method, resource, code })
      metric.operator_api_request_seconds.observe({ method }, ms / 1000)
    },
  }
}

/** Events of the controller on Kubernetes. */
export type OperatorEvents = ReturnType<typeof createOperatorEvents>

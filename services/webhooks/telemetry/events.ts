import type { AppError } from '#shared/errors/app-error.ts'
import { createCertificateEvents } from '#shared/telemetry/certificate-events.ts'
import { createIdentityEvents } from '#shared/telemetry/identity-events.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics, MetricTable } from '#shared/telemetry/metrics.ts'
import { createStoreEvents } from '#shared/process/store-watch.ts'
import { type Failure, failures } from '#shared/errors/delivery-failures.ts'

/** An attempt that was made. Nothing about the receiver is logged: its URL is the caller's data. */
export type Attempted = {
  readonly id: string
  readonly event: string
  readonly traceId: string | undefined
  readonly failure: Failure | null
  readonly status: number | null
  readonly answer?: string | undefined
  readonly ms: number
  /** Whether this attempt failed and was the last. */
  readonly givenUp: boolean
}

const metricTable = {
  webhook_attempts_total: {
    counter: 'Attempts to deliver a webhook; outcome is delivered or why it failed',
    labels: ['outcome'],
    initial: ['delivered', ...failures].map((outcome) => ({ outcome })),
  },
  webhook_attempt_seconds: {
    histogram: 'Time that attempts took',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 45],
  },
  webhook_deliveries_failed_total: { counter: 'Deliveries whose attempts all failed, or that waited too long' },
  webhook_attempts_postponed_total: {
    counter: 'Attempts that were postponed because the egress filter or the object store was unreachable',
  },
  webhook_in_flight: { gauge: 'Deliveries that are being tried' },
  webhook_turn_failures_total: { counter: 'Rounds of the sender that failed' },
} as const satisfies MetricTable

/** Declares the metrics and creates the events: one function each, for its log line and metric. */
export const createEvents = (log: Logger, metrics: Metrics) => {
  const metric = metrics.declare(metricTable)
  return {
    ...createStoreEvents(log, metrics),
    ...createCertificateEvents(log, metrics),
    ...createIdentityEvents(log, metrics),
    attempted: ({ id, event, traceId, failure, status, answer, ms, givenUp }: Attempted) => {
      const outcome = failure ?? 'delivered'
      metric.webhook_attempts_total.inc({ outcome })
      metric.webhook_attempt_seconds.observe(ms / 1000)
      if (givenUp) metric.webhook_deliveries_failed_total.inc()
      log.debug({ delivery: id, event, traceId, outcome, status, answer, ms, givenUp }, 'attempted')
    },
    /** The egress filter, or the object store of an upload, was unreachable: deliveries wait, and no attempt is counted. */
    unattempted: (deliveries: number) => {
      metric.webhook_attempts_postponed_total.inc(deliveries)
      log.warn({ deliveries }, 'egress or object store unreachable, deliveries wait')
    },
    /** An attempt could not be made, or its result not be read, through a fault of ours or of its URL. */
    attemptThrew: (delivery: string, cause: unknown) =>
      log.error({ delivery, reason: String(cause) }, 'attempt could not be made'),
    /** PostgreSQL rejected the result of one attempt, which is retried in every round. */
    unrecordable: (error: AppError) => log.error({ err: error }, 'result of a delivery cannot be stored, retrying'),
    /** Something cannot be decrypted with the configured keys: a webhook's secret, a record or a body. */
    unreadable: (what: string, cause: unknown) =>
      log.error({ what, reason: String(cause) }, 'cannot be decrypted, its deliveries wait'),
    dropped: (deliveries: number) =>
      log.info({ deliveries }, 'deliveries dropped: their capture, webhook or destination was deleted'),
    expired: (deliveries: number) => {
      metric.webhook_deliveries_failed_total.inc(deliveries)
      log.warn({ deliveries }, 'deliveries given up: their receivers did not respond for too long')
    },
    inFlight: (deliveries: number) => metric.webhook_in_flight.set(deliveries),
    /** `first`: the round before did not fail. */
    roundFailed: (error: AppError, first: boolean) => {
      metric.webhook_turn_failures_total.inc()
      if (first) log.error({ err: error }, 'sender failed, retrying')
    },
    recovered: () => log.info('sender recovered'),
    draining: (deliveries: number) => log.info({ deliveries }, 'draining'),
  }
}

/** See `createEvents`. */
export type Events = ReturnType<typeof createEvents>

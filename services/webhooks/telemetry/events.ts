import type { AppError } from '#shared/errors/app-error.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import { createStoreEvents } from '#shared/process/store-watch.ts'
import type { Failure } from '#shared/errors/delivery-failures.ts'

/** An attempt that was made. Nothing about the receiver is logged: its URL is the caller's data. */
export type Attempted = {
  readonly id: string
  readonly event: string
  readonly failure: Failure | null
  readonly status: number | null
  readonly ms: number
  /** Whether this attempt failed and was the last. */
  readonly givenUp: boolean
}

const declare = (metrics: Metrics) => ({
  attempts: metrics.counter({
    name: 'webhook_attempts_total',
    help: 'Attempts to deliver a webhook; outcome is delivered or why it failed',
    labels: ['outcome'],
  }),
  seconds: metrics.histogram({
    name: 'webhook_attempt_seconds',
    help: 'Time that attempts took',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 45],
  }),
  givenUp: metrics.counter({
    name: 'webhook_deliveries_failed_total',
    help: 'Deliveries whose attempts all failed, or that waited too long',
  }),
  unattempted: metrics.counter({
    name: 'webhook_not_tried_total',
    help: 'Attempts that were postponed because the egress filter was unreachable',
  }),
  inFlight: metrics.gauge({ name: 'webhook_in_flight', help: 'Deliveries that are being tried' }),
  failedTurns: metrics.counter({ name: 'webhook_turn_failures_total', help: 'Turns of the sender that failed' }),
})

/** Declares the metrics and creates the events: one function each, for its log line and metric. */
export const createEvents = (log: Logger, metrics: Metrics) => {
  const counts = declare(metrics)
  return {
    ...createStoreEvents(log, metrics),
    attempted: ({ id, event, failure, status, ms, givenUp }: Attempted) => {
      counts.attempts.inc({ outcome: failure ?? 'delivered' })
      counts.seconds.observe(ms / 1000)
      if (givenUp) counts.givenUp.inc()
      log.debug({ delivery: id, event, outcome: failure ?? 'delivered', status, ms, givenUp }, 'attempted')
    },
    /** The egress filter was unreachable: deliveries wait, and no attempt is counted. */
    unattempted: (deliveries: number) => {
      counts.unattempted.inc(deliveries)
      log.warn({ deliveries }, 'egress unreachable, deliveries wait')
    },
    /** PostgreSQL rejected the result of one attempt, which is retried every turn. */
    unrecordable: (error: AppError) => log.error({ err: error }, 'result of a delivery cannot be stored, retrying'),
    /** Something cannot be decrypted with the configured keys: a webhook's secret, a record or a body. */
    unreadable: (what: string, cause: unknown) =>
      log.error({ what, reason: String(cause) }, 'cannot be decrypted, its deliveries wait'),
    dropped: (deliveries: number) => log.info({ deliveries }, 'deliveries dropped: their capture or batch was deleted'),
    expired: (deliveries: number) => {
      counts.givenUp.inc(deliveries)
      log.warn({ deliveries }, 'deliveries given up: their receivers did not respond for too long')
    },
    inFlight: (deliveries: number) => counts.inFlight.set(deliveries),
    /** `first`: the turn before did not fail. */
    turnFailed: (error: AppError, first: boolean) => {
      counts.failedTurns.inc()
      if (first) log.error({ err: error }, 'sender failed, retrying')
    },
    recovered: () => log.info('sender recovered'),
    draining: (deliveries: number) => log.info({ deliveries }, 'draining'),
  }
}

/** See `createEvents`. */
export type Events = ReturnType<typeof createEvents>

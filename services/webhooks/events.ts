import type { AppError } from '#shared/errors/app-error.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import type { Failure } from '#shared/errors/delivery-failures.ts'

/** An attempt that was made. Of the receiver nothing is kept: its address is the caller's. */
export type Attempted = {
  readonly id: string
  readonly event: string
  readonly failure: Failure | null
  readonly status: number | null
  readonly ms: number
  /** Whether this was the last one, and failed. */
  readonly givenUp: boolean
}

/** Events for operators: one function each, for its log line and metric. */
export type Events = {
  readonly attempted: (attempt: Attempted) => void
  /** The egress filter was not reached: deliveries wait, and it does not count as an attempt. */
  readonly notTried: (deliveries: number) => void
  /** The secret of a webhook does not open with the keys that this process was given. */
  readonly unsignable: (webhookId: string, cause: unknown) => void
  /** What they tell of, or whom, is gone. */
  readonly dropped: (deliveries: number) => void
  /** They waited for longer than deliveries may. */
  readonly expired: (deliveries: number) => void
  readonly inFlight: (deliveries: number) => void
  /** `first`: it worked until now. */
  readonly turnFailed: (error: AppError, first: boolean) => void
  readonly recovered: () => void
  readonly draining: (deliveries: number) => void
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
  notTried: metrics.counter({
    name: 'webhook_not_tried_total',
    help: 'Attempts that were put off because the egress filter did not answer',
  }),
  inFlight: metrics.gauge({ name: 'webhook_in_flight', help: 'Deliveries that are being tried' }),
  failedTurns: metrics.counter({ name: 'webhook_turn_failures_total', help: 'Turns of the sender that failed' }),
})

/** Declares the metrics and makes the events. */
export const createEvents = (log: Logger, metrics: Metrics): Events => {
  const counts = declare(metrics)
  return {
    attempted: ({ id, event, failure, status, ms, givenUp }) => {
      counts.attempts.inc({ outcome: failure ?? 'delivered' })
      counts.seconds.observe(ms / 1000)
      if (givenUp) counts.givenUp.inc()
      log.debug({ delivery: id, event, outcome: failure ?? 'delivered', status, ms, givenUp }, 'attempted')
    },
    notTried: (deliveries) => {
      counts.notTried.inc(deliveries)
      log.warn({ deliveries }, 'egress unreachable, deliveries wait')
    },
    unsignable: (webhook, cause) => log.error({ webhook, reason: String(cause) }, 'webhook secret cannot be decrypted'),
    dropped: (deliveries) => log.info({ deliveries }, 'deliveries dropped: their capture or batch was deleted'),
    expired: (deliveries) => {
      counts.givenUp.inc(deliveries)
      log.warn({ deliveries }, 'deliveries given up: their receivers did not answer for too long')
    },
    inFlight: (deliveries) => counts.inFlight.set(deliveries),
    turnFailed: (error, first) => {
      counts.failedTurns.inc()
      if (first) log.error({ err: error }, 'sender failed, retrying')
    },
    recovered: () => log.info('sender recovered'),
    draining: (deliveries) => log.info({ deliveries }, 'draining'),
  }
}

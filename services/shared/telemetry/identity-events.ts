import type { Logger } from './logger.ts'
import type { Metrics, MetricTable } from './metrics.ts'

const metricTable = {
  identity_not_after_seconds: {
    gauge: 'Unix time at which the latest keys or credentials that the service obtained end',
    labels: ['name'],
  },
  identity_renewal_failures_total: {
    counter: 'Times that the keys, credentials or password for a store could not be read or requested',
    labels: ['name'],
  },
} as const satisfies MetricTable

/** The store to which a service identifies itself. */
type IdentityName = 'object_store' | 'postgresql' | 'nats'

/** How each reading or request of keys, credentials or a password ended. */
export type IdentityReports = {
  /** They were obtained; `endsAtMs`: when they end, in milliseconds of the wall clock, if they do. */
  readonly renewed: (endsAtMs?: number) => void
  /** `setting` names their source; `cause` must not contain them. */
  readonly failed: (setting: string, cause: unknown) => void
}

/** The events of keys, credentials and passwords that a service obtains again while it runs. */
export const createIdentityEvents = (log: Logger, metrics: Metrics) => {
  const metric = metrics.declare(metricTable)
  /** Why each failed last. A source is read again several times a second while a store refuses connections. */
  const faults = new Map<IdentityName, string>()
  return {
    /** Reports the renewals of one identity; logs a failure once until its reason changes or a renewal succeeds. */
    identityReports: (name: IdentityName): IdentityReports => {
      metric.identity_renewal_failures_total.inc({ name }, 0)
      return {
        renewed: (endsAtMs) => {
          if (endsAtMs !== undefined) metric.identity_not_after_seconds.set({ name }, endsAtMs / 1000)
          if (faults.delete(name)) log.info({ name }, 'keys, credentials or password renewed again')
        },
        failed: (setting, cause) => {
          metric.identity_renewal_failures_total.inc({ name })
          const reason = String(cause)
          if (faults.get(name) !== reason)
            log.error({ name, setting, reason }, 'keys, credentials or password could not be renewed')
          faults.set(name, reason)
        },
      }
    },
  }
}

import type { ReachedBound } from '#shared/policy/shares.ts'
import type { Metrics, MetricTable } from '#shared/telemetry/metrics.ts'

const metricTable = {
  http_connections_refused_total: {
    counter: 'Connections closed at once, since their client, or all clients, had too many',
    labels: ['bound'],
  },
  http_body_bytes: {
    gauge:
      'Bytes set aside for bodies that are being received: their length, or up to twice what has arrived if that is not known',
  },
  http_bodies_refused_total: {
    counter:
      'Requests refused since too many bytes of bodies were being received from their client, for their account, or in all',
    labels: ['bound'],
  },
} as const satisfies MetricTable

/** Creates the events of bounds that gateways and routers set to clients. */
export const createBoundEvents = (metrics: Metrics) => {
  const metric = metrics.declare(metricTable)
  return {
    connectionRefused: (bound: ReachedBound) => metric.http_connections_refused_total.inc({ bound }),
    bodyBytes: (bytes: number) => metric.http_body_bytes.set(bytes),
    bodyRefused: (bound: ReachedBound) => metric.http_bodies_refused_total.inc({ bound }),
  }
}

import type { Cell } from '#shared/config/settings/router.ts'
import type { Outcome } from './cell-directory.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics, MetricTable } from '#shared/telemetry/metrics.ts'
import { createBoundEvents } from '#gateway/telemetry/bound-events.ts'
import { proxyAdvice } from '#gateway/telemetry/events.ts'

const metricTable = {
  router_requests_total: {
    counter: 'Requests forwarded to gateways, by cell and class of the status (2xx to 5xx); failed: no response began',
    labels: ['cell', 'status'],
  },
  router_request_seconds: {
    histogram: 'Time until the response of the cell was sent',
    labels: ['cell'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120],
  },
  router_lookups_total: {
    counter:
      'Credentials of which all cells were asked whose they are: found, unknown to all, away: of an account between two cells, contradicted: claimed by several cells, or silent: not known, since a cell did not answer',
    labels: ['outcome'],
    initial: [{ outcome: 'found' }, { outcome: 'unknown' }, { outcome: 'silent' }],
  },
  router_cells_silent_total: {
    counter: 'Questions whose credential this is to which a cell gave no valid answer within two seconds',
    labels: ['cell'],
  },
} as const satisfies MetricTable

/** Logs and counts what the router does. */
export type RouterEvents = ReturnType<typeof createRouterEvents>

/** Creates the events of a router. */
export const createRouterEvents = (log: Logger, metrics: Metrics) => {
  const metric = metrics.declare(metricTable)
  return {
    ...createBoundEvents(metrics),
    listening: (url: string, cells: readonly Cell[]) => {
      for (const { name: cell } of cells) {
        metric.router_requests_total.inc({ cell, status: 'failed' }, 0)
        metric.router_cells_silent_total.inc({ cell }, 0)
      }
      log.info({ url, cells: cells.map(({ name }) => name) }, 'router is listening')
    },
    forwarded: ({ name: cell }: Cell, status: number | undefined, ms: number) => {
      if (status !== undefined) metric.router_requests_total.inc({ cell, status: `${Math.floor(status / 100)}xx` })
      metric.router_request_seconds.observe({ cell }, ms / 1000)
    },
    notForwarded: ({ name: cell }: Cell, requestId: string, cause: unknown) => {
      metric.router_requests_total.inc({ cell, status: 'failed' })
      log.error({ cell, request_id: requestId, reason: String(cause) }, 'no gateway of the cell responded')
    },
    proxyIgnored: (peer: string) => log.warn({ peer }, proxyAdvice(peer)),
    located: (outcome: Outcome) => metric.router_lookups_total.inc({ outcome }),
    contradicted: (cells: readonly Cell[]) =>
      log.error({ cells: cells.map(({ name }) => name) }, 'several cells claim one credential, which is refused'),
    silent: ({ name: cell }: Cell, cause: unknown) => {
      metric.router_cells_silent_total.inc({ cell })
      log.warn({ cell, reason: String(cause) }, 'cell did not say whose a credential is')
    },
    notAsked: ({ name: cell }: Cell) => metric.router_cells_silent_total.inc({ cell }),
  }
}

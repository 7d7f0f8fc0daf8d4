import type { AppError } from '#shared/errors/app-error.ts'
import { createCertificateEvents } from '#shared/telemetry/certificate-events.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics, MetricTable } from '#shared/telemetry/metrics.ts'
import type { End } from '#egress/connections/bound-connection.ts'
import type { Route } from '#egress/target/parse-target.ts'
import { toRefusal } from '#egress/connections/refuse.ts'

/** How a request leaves: to its target, or through its caller's proxy; `unknown` if the request could not be read. */
type RouteKind = 'direct' | 'http_proxy' | 'socks5_proxy' | 'unknown'

/** Log fields of a connection. Of targets and proxies only the host is logged: all else is the caller's data. */
export type ConnectionFields = {
  readonly kind: 'tunnel' | 'request'
  readonly capture: string | undefined
  /** `undefined` if the request names no readable host. */
  readonly host: string | undefined
  readonly route: RouteKind
  /** The proxy's host; `undefined` without a proxy. */
  readonly proxy: string | undefined
}

/** The log fields of a route; `undefined`: the route could not be read. */
export const routeFields = (route: Route | undefined): Pick<ConnectionFields, 'host' | 'route' | 'proxy'> => {
  if (route === undefined) return { host: undefined, route: 'unknown', proxy: undefined }
  const { target, proxy } = route
  return { host: target.host, route: proxy === undefined ? 'direct' : `${proxy.kind}_proxy`, proxy: proxy?.host }
}

const overloadedEveryMs = 10_000

/** Logs an overload, once in `overloadedEveryMs`. */
const warnOfOverload = (log: Logger) => {
  let warnedAt = -Infinity
  return (open: number) => {
    if (performance.now() - warnedAt < overloadedEveryMs) return
    warnedAt = performance.now()
    log.warn(
      { open, setting: 'SHUTTERFLEET_EGRESS_CONNECTIONS_MAX' },
      'clients refused: too many connections are open; raise the setting, or start another egress',
    )
  }
}

const metricTable = {
  egress_clients: { gauge: 'Client connections that are open' },
  egress_clients_cut_total: {
    counter: 'Clients cut or refused unserved; too_many: above SHUTTERFLEET_EGRESS_CONNECTIONS_MAX',
    labels: ['reason'],
  },
  egress_connections_opened_total: {
    counter: "Connections made to targets, directly or through a caller's proxy",
    labels: ['kind', 'route'],
  },
  egress_connections_ended_total: { counter: 'Connections to targets that ended', labels: ['kind', 'end'] },
  egress_bytes_total: { counter: 'Bytes carried, both directions', labels: ['kind'] },
  egress_requests_refused_total: {
    counter: 'Requests for which no connection was made',
    labels: ['kind', 'route', 'refusal'],
  },
  egress_dns_lookups_total: {
    counter: 'Names looked up in DNS; unanswered: no server answered, or only with a failure',
    labels: ['outcome'],
    initial: [{ outcome: 'answered' }, { outcome: 'unanswered' }],
  },
} as const satisfies MetricTable

/** Declares the metrics and creates the events of egress: one function each, log line and metric together. */
export const createEvents = (log: Logger, metrics: Metrics) => {
  const warn = warnOfOverload(log)
  const metric = metrics.declare(metricTable)
  return {
    ...createCertificateEvents(log, metrics),
    listening: (address: string) => log.info({ address }, 'listening'),
    clientConnected: () => metric.egress_clients.inc(),
    clientGone: () => metric.egress_clients.dec(),
    /** A client above the bound of connections was refused or cut; `open` connections were open. */
    overloaded: (open: number) => {
      metric.egress_clients_cut_total.inc({ reason: 'too_many' })
      warn(open)
    },
    /** A client was cut because it sent no valid request, or none in time. */
    unreadable: (cause: Error) => {
      metric.egress_clients_cut_total.inc({ reason: 'unreadable' })
      log.debug({ reason: cause.message }, 'client disconnected: malformed request')
    },
    unauthorized: () => {
      metric.egress_clients_cut_total.inc({ reason: 'unauthorized' })
      log.info('client refused: no token of SHUTTERFLEET_EGRESS_TOKENS')
    },
    opened: (connection: ConnectionFields) => {
      metric.egress_connections_opened_total.inc({ kind: connection.kind, route: connection.route })
      log.debug(connection, 'connection opened')
    },
    ended: (connection: ConnectionFields, summary: { readonly end: End; readonly bytes: number }) => {
      metric.egress_connections_ended_total.inc({ kind: connection.kind, end: summary.end })
      metric.egress_bytes_total.inc({ kind: connection.kind }, summary.bytes)
      log.debug({ ...connection, ...summary }, 'connection ended')
    },
    refused: (connection: ConnectionFields, error: AppError) => {
      const { refusal } = toRefusal(error)
      metric.egress_requests_refused_total.inc({ kind: connection.kind, route: connection.route, refusal })
      const line = { ...connection, refusal, reason: error.message }
      if (error.code === 'SERVER_ERROR') log.error({ ...line, err: error.cause }, 'request refused: internal error')
      else if (error.code === 'SERVICE_UNAVAILABLE') log.warn(line, 'request refused: service unavailable')
      else log.info(line, 'request refused')
    },
    nameLookedUp: (isAnswered: boolean) =>
      metric.egress_dns_lookups_total.inc({ outcome: isAnswered ? 'answered' : 'unanswered' }),
    /** No DNS server answered whether the network translates IPv6: until one does, only IPv4 is reached. */
    nat64Unknown: () =>
      log.warn(
        { setting: 'SHUTTERFLEET_EGRESS_NAT64_PREFIXES' },
        'NAT64 prefixes not discovered: no response for ipv4only.arpa; set them, or set them to nothing if there are none',
      ),
    draining: (open: number) => log.info({ open }, 'draining'),
  }
}

/** See `createEvents`. */
export type Events = ReturnType<typeof createEvents>

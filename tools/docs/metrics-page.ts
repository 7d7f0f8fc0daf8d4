import { createEvents as controllerEvents } from '#controller/telemetry/events.ts'
import { createOperatorEvents } from '#controller/operator/telemetry/events.ts'
import { createEvents as egressEvents } from '#egress/telemetry/events.ts'
import { createEvents as gatewayEvents } from '#gateway/telemetry/events.ts'
import { createRouterEvents } from '#gateway/router/events.ts'
import { createEvents as ledgerEvents } from '#ledger/telemetry/events.ts'
import { createCertificateEvents } from '#shared/telemetry/certificate-events.ts'
import { createIdentityEvents } from '#shared/telemetry/identity-events.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import { createMetrics, type Metrics } from '#shared/telemetry/metrics.ts'
import { createEvents as webhookEvents } from '#webhooks/telemetry/events.ts'
import { createEvents as workerEvents } from '#worker/telemetry/events.ts'

type Declared = {
  readonly kind: string
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
}

/** What both controllers declare. */
const ofIdentity = (log: Logger, metrics: Metrics) => [
  createCertificateEvents(log, metrics),
  createIdentityEvents(log, metrics),
]

const services: Readonly<Record<string, (log: Logger, metrics: Metrics) => unknown>> = {
  gateway: gatewayEvents,
  ledger: ledgerEvents,
  webhooks: webhookEvents,
  worker: workerEvents,
  controller: (log, metrics) => [controllerEvents(log, metrics), ofIdentity(log, metrics)],
  'controller on Kubernetes': (log, metrics) => [createOperatorEvents(log, metrics), ofIdentity(log, metrics)],
  egress: egressEvents,
  router: createRouterEvents,
}

const intro = `# Metrics

Every service serves Prometheus text at \`/metrics\` on its probe address, next to \`/healthz\`, \`/livez\` and \`/readyz\`; on
one machine \`local.json\` lists the addresses. Each line has the label \`component\` (the service, of the two egress filters
\`egress\` or \`webhook-egress\`); the default metrics of process and Node are included, of workers only the former. No label has a name that scrapers set. \`queue\` is the queue of a capture (\`standard\`, \`stealth\`, \`proxied\`; constant for a worker), \`browserpool\` the
name of the BrowserPool, which on one machine is that of the queue. Label values are fixed words and these names, never an
address, an id or a host name, so the number of series does not grow with accounts or requests. One exception: \`account\` is the id
of one of the ten accounts with most captures in the queue.

If a service sends spans (\`OTEL_EXPORTER_OTLP_ENDPOINT\`), gateway and ledger serve OpenMetrics text to scrapers that accept it, in which the buckets of
\`http_request_seconds\`, \`capture_queue_seconds\` and \`capture_processing_seconds\` have exemplars: the \`trace_id\` of their latest
sampled trace. Prometheus stores them with \`--enable-feature=exemplar-storage\`.

This page is generated from the code by \`make docs\`; \`make check\` fails if it differs.

## every service

| Metric | Kind | Labels | What it counts |
|---|---|---|---|
| \`shutterfleet_build_info\` | gauge | \`version\`, \`nodejs\` | Always 1: the release of the service, and the version of Node that runs it |
| \`shutterfleet_event_loop_utilization_ratio\` | gauge |  | Fraction of the time since the last scrape in which the event loop was busy, 0 to 1 |
`

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** The metrics that a service declares, recorded while it declares them. */
const declaredBy = (service: string): Declared[] => {
  const found: Declared[] = []
  const metrics = createMetrics(service)
  services[service]?.(silent, {
    ...metrics,
    declare: (table) => {
      for (const [name, { labels = [], ...of }] of Object.entries(table)) {
        for (const [kind, help] of Object.entries(of)) {
          if (typeof help === 'string')
            found.push({ kind, name: `shutterfleet_${name}`, help: help.replace(/\.$/, ''), labels })
        }
      }
      return metrics.declare(table)
    },
  })
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const row = ({ kind, name, help, labels }: Declared) =>
  `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`

const section = (service: string) =>
  [
    `## ${service}`,
    '',
    '| Metric | Kind | Labels | What it counts |',
    '|---|---|---|---|',
    ...declaredBy(service).map(row),
    '',
  ].join('\n')

/** The help texts of all metrics by name. */
export const metricHelp = (): ReadonlyMap<string, string> =>
  new Map(
    Object.keys(services).flatMap((service) => declaredBy(service).map(({ name, help }) => [name, help] as const)),
  )

/** The text of docs/metrics.md: every metric that a service of the project declares. */
export const metricsPage = (): string => [intro, ...Object.keys(services).map(section)].join('\n')

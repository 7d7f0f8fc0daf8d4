import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { createEvents as createControllerEvents } from '#controller/telemetry/events.ts'
import { createOperatorEvents } from '#controller/operator/telemetry/events.ts'
import { createEvents as createEgressEvents } from '#egress/telemetry/events.ts'
import { createEvents as createGatewayEvents } from '#gateway/telemetry/events.ts'
import { createRouterEvents } from '#gateway/router/events.ts'
import { createEvents as createLedgerEvents } from '#ledger/telemetry/events.ts'
import { captureErrorCodes } from '#shared/errors/catalog.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import { createMetrics, type Metrics } from '#shared/telemetry/metrics.ts'
import { createEvents as createWebhookEvents } from '#webhooks/telemetry/events.ts'
import { createEvents as createWorkerEvents } from '#worker/telemetry/events.ts'

const log: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const rules = resolve(import.meta.dirname, '../../charts/shutterfleet/files/rules')

/** What each process does at its start. */
const starts: Readonly<Record<string, (metrics: Metrics) => void>> = {
  gateway: (metrics) => {
    const events = createGatewayEvents(log, metrics)
    events.operationServed('create')
    events.storeRequested('postgresql')
    events.identityReports('nats')
  },
  ledger: (metrics) => createLedgerEvents(log, metrics),
  webhooks: (metrics) => createWebhookEvents(log, metrics),
  worker: (metrics) => createWorkerEvents(log, metrics),
  controller: (metrics) => {
    createControllerEvents(log, metrics).forPool({ queue: 'standard', browserpool: 'web' })
    createOperatorEvents(log, metrics)
  },
  egress: (metrics) => createEgressEvents(log, metrics),
  router: (metrics) => createRouterEvents(log, metrics).listening('http://a', [{ name: 'one', url: 'http://b' }]),
}

type Labels = Readonly<Record<string, string>>
type Series = { readonly name: string; readonly labels: Labels }

const readLabels = (text: string): Labels =>
  Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]))

const readSeries = async (metrics: Metrics): Promise<Series[]> =>
  [...(await metrics.text()).matchAll(/^(shutterfleet_\w+)\{(.*)\} \S+$/gm)].map(([, name = '', labels = '']) => ({
    name,
    labels: readLabels(labels),
  }))

/** A selector for each of the alternatives that its matchers name. */
const alternatives = (selector: string): string[] => {
  const [matcher, label, values] = /(\w+)=~"([\w|-]+\|[\w|-]+)"/.exec(selector) ?? []
  if (matcher === undefined || values === undefined) return [selector]
  return values.split('|').flatMap((value) => alternatives(selector.replace(matcher, `${label}="${value}"`)))
}

/** The counters whose increase or rate a rule reads, with their matchers, each alternative by itself. */
const readSelectors = (): string[] => {
  const text = readdirSync(rules).map((file) => readFileSync(`${rules}/${file}`, 'utf8'))
  const found = text.join('\n').matchAll(/(?:rate|increase)\((shutterfleet_\w+_total(?:\{[^}]*\})?)\[/g)
  return [...new Set([...found].flatMap(([, selector = '']) => alternatives(selector)))]
}

const matches = ({ name, labels }: Series, selector: string): boolean => {
  const all = [...selector.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)]
  return (
    selector.split('{')[0] === name &&
    all.every(([, label = '', operator, value = '']) => {
      const actual = labels[label] ?? ''
      const isEqual = operator?.includes('~') ? new RegExp(`^(?:${value})$`).test(actual) : actual === value
      return isEqual !== operator?.startsWith('!')
    })
  )
}

t.test('alerts: every counter whose increase a rule reads exists before its first event', async (t) => {
  const series = (
    await Promise.all(
      Object.entries(starts).map(([component, start]) => {
        const metrics = createMetrics(component)
        start(metrics)
        return readSeries(metrics)
      }),
    )
  ).flat()
  const selectors = readSelectors()
  t.ok(selectors.length > 20)
  t.strictSame(
    selectors.filter((selector) => !series.some((each) => matches(each, selector))),
    [],
  )
})

t.test('alerts: no fault of the service begins a series of the ledger', async (t) => {
  const metrics = createMetrics('ledger')
  const events = createLedgerEvents(log, metrics)
  const before = await readSeries(metrics)
  for (const pool of ['standard', 'stealth', 'proxied'] as const) {
    const capture = { id: 'a', accountId: 'b', pool, lane: 'bulk', traceparent: null } as const
    for (const code of captureErrorCodes)
      events.ended(capture, { status: 'failed', code, message: '', blame: 'service' })
  }
  t.strictSame(await readSeries(metrics), before)
})

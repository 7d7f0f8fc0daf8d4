import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { eventually } from './eventually.ts'
import type { Prometheus } from './prometheus.ts'

const folder = resolve(import.meta.dirname, '../../charts/shutterfleet/files/dashboards')
const withinMs = 60_000
/** Rate window of every query, and the queried time range. */
const windowSeconds = 30

/** A colour of Grafana, from a value upwards. */
type Step = { readonly color: string; readonly value: number | null }

/** One panel with its queries as Grafana would send them for all namespaces. */
export type DashboardPanel = {
  readonly title: string
  /** Title of the row that it stands in; empty if the dashboard has none. */
  readonly row: string
  readonly isStat: boolean
  readonly unit: string
  /** Colours of values; each applies from its value upwards, the first from below. */
  readonly steps: readonly Step[]
  readonly queries: readonly { readonly expr: string; readonly legend: string }[]
  /** Whether the panel is described as empty until an event happens. */
  readonly isEventOnly: boolean
  /** Whether the panel is described as specific to the controller on Kubernetes. */
  readonly isKubernetes: boolean
}

/** A dashboard of the chart; `name` is its file name. */
export type ShippedDashboard = {
  readonly name: string
  readonly title: string
  readonly panels: readonly DashboardPanel[]
}

type Json = {
  readonly title: string
  readonly panels: readonly {
    readonly type: string
    readonly title: string
    readonly description?: string
    readonly fieldConfig: {
      readonly defaults: { readonly unit: string; readonly thresholds?: { readonly steps: readonly Step[] } }
    }
    readonly targets: readonly { readonly expr: string; readonly legendFormat?: string }[]
  }[]
}

const toPanel = (
  { type, title, description = '', fieldConfig, targets }: Json['panels'][number],
  row: string,
): DashboardPanel => ({
  title,
  row,
  isStat: type === 'stat',
  unit: fieldConfig.defaults.unit,
  steps: fieldConfig.defaults.thresholds?.steps ?? [],
  queries: targets.map(({ expr, legendFormat = '' }) => ({
    expr: expr.replaceAll('$__rate_interval', `${windowSeconds}s`).replaceAll('$namespace', '.*'),
    legend: legendFormat,
  })),
  isEventOnly: description.includes('No data until the first event.'),
  isKubernetes: description.includes('Only with the controller on Kubernetes.'),
})

/** Every dashboard of the chart, either with its Kubernetes-only panels or with all others. */
export const readDashboards = ({ isKubernetes }: { isKubernetes: boolean }): ShippedDashboard[] =>
  readdirSync(folder).map((file) => {
    const { title, panels } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Json
    return {
      name: file.replace('.json', ''),
      title,
      panels: panels
        .flatMap((panel, index) => {
          const row = panels.slice(0, index).findLast(({ type }) => type === 'row')
          return panel.type === 'row' ? [] : [toPanel(panel, row?.title ?? '')]
        })
        .filter((panel) => panel.isKubernetes === isKubernetes),
    }
  })

/** Executes every query until it returns data; a query of an event-only panel only has to be valid. */
export const testQueries = async (
  t: Test,
  prometheus: Pick<Prometheus, 'query'>,
  dashboards: readonly ShippedDashboard[],
): Promise<void> => {
  const panels = dashboards.flatMap(({ name, panels: all }) => all.map((panel) => ({ ...panel, name })))
  t.ok(panels.length > 3)
  for (const { name, title, queries, isEventOnly } of panels) {
    for (const { expr } of queries) {
      const hasData = async () =>
        (await prometheus.query(expr, windowSeconds)).some(({ values }) => values.some(([, value]) => value !== 'NaN'))
      if (isEventOnly) await t.resolves(hasData(), `${name}: ${title} is understood`)
      else await t.resolves(eventually(hasData, { withinMs, what: expr }), `${name}: ${title} has data`)
    }
  }
}

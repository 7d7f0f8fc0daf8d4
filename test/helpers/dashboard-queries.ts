import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { eventually } from './eventually.ts'
import { type Prometheus, prometheusPollMs as everyMs, type Series } from './prometheus.ts'

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
  /** `withZeros`: the query without what hides series at zero. */
  readonly queries: readonly { readonly expr: string; readonly withZeros: string; readonly legend: string }[]
  /** Whether the panel is described as showing nothing until an event happens. */
  readonly isEventOnly: boolean
  /** Whether the panel is described as specific to the controller on Kubernetes. */
  readonly isKubernetes: boolean
}

/** A dashboard of the chart; `name` is its file name. */
export type ShippedDashboard = {
  readonly name: string
  readonly title: string
  readonly panels: readonly DashboardPanel[]
  readonly annotations: readonly { readonly expr: string; readonly title: string }[]
}

type Json = {
  readonly title: string
  readonly annotations?: { readonly list: readonly { readonly expr: string; readonly titleFormat: string }[] }
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

/** As Grafana would send it for all namespaces. */
const fillIn = (expr: string) =>
  expr
    .replaceAll(/\$__(?:rate_interval|range)/g, `${windowSeconds}s`)
    .replaceAll('$__interval', '1s')
    .replaceAll('$namespace', '.*')

/** See `hideZeros` and `hideIdle` of tools/docs/dashboards/panel.ts. */
const withZeros = (expr: string) =>
  /^\((.*?)(?: > 0| unless max_over_time\(.*)\) or on \(\) label_replace\(0 \* group\(.*$/.exec(expr)?.[1] ?? expr

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
    expr: fillIn(expr),
    withZeros: fillIn(withZeros(expr)),
    legend: legendFormat,
  })),
  isEventOnly: description.includes('Nothing until the first event.'),
  isKubernetes: description.includes('Only with the controller on Kubernetes.'),
})

/** Every dashboard of the chart, either with its Kubernetes-only panels or with all others. */
export const readDashboards = ({ isKubernetes }: { isKubernetes: boolean }): ShippedDashboard[] =>
  readdirSync(folder).map((file) => {
    const { title, panels, annotations } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Json
    return {
      name: file.replace('.json', ''),
      title,
      annotations: (annotations?.list ?? []).map((each) => ({ expr: fillIn(each.expr), title: each.titleFormat })),
      panels: panels
        .flatMap((panel, index) => {
          const row = panels.slice(0, index).findLast(({ type }) => type === 'row')
          return panel.type === 'row' ? [] : [toPanel(panel, row?.title ?? '')]
        })
        .filter((panel) => panel.isKubernetes === isKubernetes),
    }
  })

const hasSample = ({ values }: Series) => values.some(([, value]) => value !== 'NaN')

/** Executes every query until it returns data, zeros included; a query of an event-only panel only has to be valid. */
export const testQueries = async (
  t: Test,
  prometheus: Pick<Prometheus, 'query'>,
  dashboards: readonly ShippedDashboard[],
): Promise<void> => {
  const panels = dashboards.flatMap(({ name, panels: all }) => all.map((panel) => ({ ...panel, name })))
  t.ok(panels.length > 3)
  const test = async ({ name, title, queries, isEventOnly }: (typeof panels)[number]) => {
    for (const { expr, withZeros: plain } of queries) {
      const hasData = async () => (await prometheus.query(plain, windowSeconds)).some(hasSample)
      if (isEventOnly) await t.resolves(hasData(), `${name}: ${title} is understood`)
      else await t.resolves(eventually(hasData, { withinMs, everyMs, what: plain }), `${name}: ${title} has data`)
      // Hiding zeros must leave nothing empty.
      if (expr !== plain)
        t.ok((await prometheus.query(expr, windowSeconds)).some(hasSample), `${name}: ${title} shows it`)
    }
  }
  await Promise.all(panels.map(test))
  for (const { expr } of dashboards.flatMap(({ annotations }) => annotations))
    await t.resolves(prometheus.query(expr, windowSeconds), `${expr} is understood`)
}

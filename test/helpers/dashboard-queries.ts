import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { eventually } from './eventually.ts'
import type { Prometheus } from './prometheus.ts'

const folder = resolve(import.meta.dirname, '../../charts/shutterfleet/files/dashboards')
const withinMs = 60_000
/** Every window of a rate, and what of the past is looked at. */
const windowSeconds = 30

/** One query of a panel, as Grafana would send it for all namespaces. */
export type DashboardQuery = {
  readonly dashboard: string
  readonly panel: string
  readonly expr: string
  /** Whether the panel says that it has no data until something happens. */
  readonly isEventOnly: boolean
  /** Whether the panel says that it is of the controller on Kubernetes. */
  readonly isKubernetes: boolean
}

type Json = {
  readonly panels: readonly {
    readonly title: string
    readonly description?: string
    readonly targets: readonly { readonly expr: string }[]
  }[]
}

/** Every query of every dashboard that the chart ships. */
export const dashboardQueries = (): DashboardQuery[] =>
  readdirSync(folder).flatMap((file) => {
    const { panels } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Json
    return panels.flatMap(({ title, description = '', targets }) =>
      targets.map(({ expr }) => ({
        dashboard: file.replace('.json', ''),
        panel: title,
        expr: expr.replaceAll('$__rate_interval', `${windowSeconds}s`).replaceAll('$namespace', '.*'),
        isEventOnly: description.includes('Without data until it happens.'),
        isKubernetes: description.includes('Of the controller on Kubernetes.'),
      })),
    )
  })

/** Executes queries until each has given data; an event-only one need only be understood. */
export const testQueries = async (
  t: Test,
  prometheus: Pick<Prometheus, 'query'>,
  queries: readonly DashboardQuery[],
): Promise<void> => {
  for (const { dashboard, panel, expr, isEventOnly } of queries) {
    const hasData = async () =>
      (await prometheus.query(expr, windowSeconds)).some(({ values }) => values.some(([, value]) => value !== 'NaN'))
    if (isEventOnly) await t.resolves(hasData(), `${dashboard}: ${panel} is understood`)
    else await t.resolves(eventually(hasData, { withinMs, what: expr }), `${dashboard}: ${panel} has data`)
  }
}

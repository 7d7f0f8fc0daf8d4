/** One query; `legend` is Grafana's template of a series' name. */
export type Query = { readonly expr: string; readonly legend: string }

/** Grafana's names of units. */
export type Unit = 'short' | 'ops' | 's' | 'percentunit' | 'bytes' | 'Bps'

/** One panel of a dashboard. */
export type Panel = {
  readonly title: string
  readonly unit: Unit
  readonly queries: readonly Query[]
  readonly description?: string
  /** Shows the latest value instead of a time series. */
  readonly isStat?: true
  /** Has data only after a fault or a rare event. */
  readonly isEventOnly?: true
  /** Has data only of the controller on Kubernetes. */
  readonly isKubernetes?: true
}

/** A dashboard; `name` is in its file name and its uid in Grafana. */
export type Dashboard = { readonly name: string; readonly title: string; readonly panels: readonly Panel[] }

const scope = 'namespace=~"$namespace"'

/** Selects a metric in the chosen namespaces; all if there are no namespaces, as on one machine. */
export const of = (metric: string, matchers = ''): string =>
  `${metric.includes(':') ? metric : `shutterfleet_${metric}`}{${scope}${matchers === '' ? '' : `,${matchers}`}}`

/** Events per second by these labels. */
export const rate = (metric: string, by: readonly string[], matchers = ''): Query => ({
  expr: `sum by (${by.join(', ')}) (rate(${of(metric, matchers)}[$__rate_interval]))`,
  legend: legendOf(by),
})

/** The maximum over replicas that report the same value. */
export const max = (metric: string, by: readonly string[], matchers = ''): Query => ({
  expr: `max by (${by.join(', ')}) (${of(metric, matchers)})`,
  legend: legendOf(by),
})

/** The sum over replicas that each report their own part. */
export const sum = (metric: string, by: readonly string[], matchers = ''): Query => ({
  expr: `sum by (${by.join(', ')}) (${of(metric, matchers)})`,
  legend: legendOf(by),
})

/** A quantile of a histogram by these labels. */
export const quantile = (q: number, metric: string, by: readonly string[] = [], matchers = ''): Query => ({
  expr: `histogram_quantile(${q}, sum by (${['le', ...by].join(', ')}) (rate(${of(`${metric}_bucket`, matchers)}[$__rate_interval])))`,
  legend: [`p${q * 100}`, ...(by.length > 0 ? [legendOf(by)] : [])].join(' '),
})

const legendOf = (by: readonly string[]): string => by.map((label) => `{{${label}}}`).join(' ')

/** One query; `legend` is Grafana's template of a series' name. */
export type Query = { readonly expr: string; readonly legend: string }

/** How numbers are shown: the words of Grafana's units. */
export type Unit = 'short' | 'ops' | 's' | 'percentunit' | 'bytes' | 'Bps'

/** One panel of a dashboard. */
export type Panel = {
  readonly title: string
  readonly unit: Unit
  readonly queries: readonly Query[]
  readonly description?: string
  /** One number instead of a course of time. */
  readonly isStat?: true
  /** Whether it has data only once something has gone wrong, or been done that is rare. */
  readonly isEventOnly?: true
  /** Whether it has data of the controller on Kubernetes alone. */
  readonly isKubernetes?: true
}

/** A dashboard; its file and its address in Grafana are named by `name`. */
export type Dashboard = { readonly name: string; readonly title: string; readonly panels: readonly Panel[] }

const scope = 'namespace=~"$namespace"'

/** A metric of the chosen namespaces; without namespaces, as on one machine, of all. */
export const of = (metric: string, matchers = ''): string =>
  `${metric.includes(':') ? metric : `shutterfleet_${metric}`}{${scope}${matchers === '' ? '' : `,${matchers}`}}`

/** Events per second by these labels. */
export const rate = (metric: string, by: readonly string[], matchers = ''): Query => ({
  expr: `sum by (${by.join(', ')}) (rate(${of(metric, matchers)}[$__rate_interval]))`,
  legend: legendOf(by),
})

/** The largest of what several replicas report of the same thing. */
export const max = (metric: string, by: readonly string[], matchers = ''): Query => ({
  expr: `max by (${by.join(', ')}) (${of(metric, matchers)})`,
  legend: legendOf(by),
})

/** The sum of what each replica reports of its own. */
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

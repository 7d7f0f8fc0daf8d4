/** One query; `legend` is Grafana's template for series names. */
export type Query = { readonly expr: string; readonly legend: string }

/** Grafana's unit ids. */
export type Unit = 'short' | 'ops' | 's' | 'percentunit' | 'bytes' | 'Bps'

/** One panel of a dashboard. */
export type Panel = {
  readonly title: string
  readonly unit: Unit
  readonly queries: readonly Query[]
  readonly description?: string
  /** The row that the panel stands in; panels of a row follow each other. */
  readonly row?: string
  /** Values from which a panel is orange, and red. */
  readonly bad?: { readonly above: readonly [number, number] } | { readonly below: readonly [number, number] }
  /** Page of `docs/runbooks` without its ending. */
  readonly runbook?: string
  /** Name of the dashboard with more about it. */
  readonly link?: string
  /** Page of the console with more about it, below `/console`; may contain Grafana's variables. */
  readonly console?: string
  /** Where a series leads. */
  readonly seriesLink?: { readonly title: string; readonly url: string }
  /** Shows the latest value instead of a time series. */
  readonly isStat?: true
  /** Has nothing to show until an error or another rare event. */
  readonly isEventOnly?: true
  /** Has data only from the controller on Kubernetes. */
  readonly isKubernetes?: true
}

/** A dashboard; `name` is its file name and part of its uid in Grafana. */
export type Dashboard = {
  readonly name: string
  readonly title: string
  readonly panels: readonly Panel[]
  /** Marks decisions to start or to drain workers. */
  readonly showsScaling?: true
  /** Fits a screen of 1,920 × 1,080: eight numbers and two graphs. */
  readonly isWall?: true
}

const scope = 'namespace=~"$namespace"'

/** A selector of `metric` in the selected namespaces; series without a namespace, as on one machine, match only `All`. */
export const series = (metric: string, matchers = ''): string =>
  `${metric.includes(':') ? metric : `shutterfleet_${metric}`}{${scope}${matchers === '' ? '' : `,${matchers}`}}`

/** Adds a single zero whose `label` is `none` where `expr` has no series, while any service of the namespaces is scraped: else there is no data. */
const orNone = (expr: string, label: string): string =>
  `(${expr}) or on () label_replace(0 * group(${series('event_loop_utilization_ratio')}), "${label}", "none", "", "")`

/** Hides series at zero, of which there are many; if all are, shows `none`, so that the panel is empty only if nothing is scraped. */
export const hideZeros = ({ expr, legend }: Query, label: string): Query => ({
  expr: orNone(`${expr} > 0`, label),
  legend,
})

/** Hides series that are at zero in the whole range, as `hideZeros` does: others stay whole, which suits gauges that often are. */
export const hideIdle = ({ expr, legend }: Query, label: string): Query => ({
  expr: orNone(`${expr} unless max_over_time((${expr})[$__range:$__interval]) == 0`, label),
  legend,
})

/** The ten highest series. */
export const topTen = ({ expr, legend }: Query): Query => ({ expr: `topk(10, ${expr})`, legend })

/** Events per second by these labels, without those of which there are none. */
export const rate = (metric: string, by: readonly string[], matchers = ''): Query => {
  const legend = legendFormat(by)
  const expr = `sum by (${by.join(', ')}) (rate(${series(metric, matchers)}[$__rate_interval]))`
  const [label] = by
  return label === undefined ? { expr, legend } : hideZeros({ expr, legend }, label)
}

/** The maximum over replicas that report the same value. */
export const max = (metric: string, by: readonly string[], matchers = ''): Query => ({
  expr: `max by (${by.join(', ')}) (${series(metric, matchers)})`,
  legend: legendFormat(by),
})

/** The sum by these labels of what replicas report alike, each for `of`. */
export const total = (metric: string, by: readonly string[], of: readonly string[]): Query => ({
  expr: `sum by (${by.join(', ')}) (max by (${[...of, ...by].join(', ')}) (${series(metric)}))`,
  legend: legendFormat(by),
})

/** The sum over replicas that each report their own value. */
export const sum = (metric: string, by: readonly string[], matchers = ''): Query => ({
  expr: `sum by (${by.join(', ')}) (${series(metric, matchers)})`,
  legend: legendFormat(by),
})

/** The number of series by these labels. */
export const count = (metric: string, by: readonly string[]): Query => ({
  expr: `count by (${by.join(', ')}) (${series(metric)})`,
  legend: legendFormat(by),
})

/** A quantile of a histogram by these labels. */
export const quantile = (q: number, metric: string, by: readonly string[] = [], matchers = ''): Query => ({
  expr: `histogram_quantile(${q}, sum by (${['le', ...by].join(', ')}) (rate(${series(`${metric}_bucket`, matchers)}[$__rate_interval])))`,
  legend: [`p${q * 100}`, ...(by.length > 0 ? [legendFormat(by)] : [])].join(' '),
})

const legendFormat = (by: readonly string[]): string => by.map((label) => `{{${label}}}`).join(' ')

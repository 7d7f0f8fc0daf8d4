import { performance } from 'node:perf_hooks'
import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  type Metric,
  type OpenMetricsContentType,
  Registry,
} from 'prom-client'
import { readProductVersion } from '#shared/config/product-version.ts'

type Labels = readonly string[]

type LabelSet = Readonly<Record<string, string>>

/**
 * Help text by kind, and names of labels, whose values come from unions, never from input. `initial`: series that exist, at 0, from the
 * start: Prometheus does not count the first value of a series as an increase.
 */
type Description = { readonly labels?: Labels } & (
  | { readonly counter: string; readonly initial?: readonly LabelSet[] }
  | { readonly gauge: string }
  | { readonly histogram: string; readonly buckets: readonly number[]; readonly hasExemplars?: true }
)

/** Metrics by name, without the prefix `shutterfleet_`. */
export type MetricTable = Readonly<Record<string, Description>>

type LabelValues<L extends Labels> = Readonly<Record<L[number], string>>

/** Labels, if there are some, then the value. */
type Sample<L extends Labels, V extends readonly unknown[]> = L extends readonly [] ? V : [labels: LabelValues<L>, ...V]

type Series<L extends Labels> = { readonly remove: (labels: LabelValues<L>) => void; readonly reset: () => void }
type Increasable<L extends Labels> = Series<L> & { readonly inc: (...sample: Sample<L, [value?: number]>) => void }

type MetricKinds<L extends Labels> = {
  counter: Increasable<L>
  gauge: Increasable<L> & {
    readonly dec: (...sample: Sample<L, [value?: number]>) => void
    readonly set: (...sample: Sample<L, [value: number]>) => void
  }
  /** `traceId`: of a sampled trace, which becomes the exemplar of its bucket if the histogram has exemplars. */
  histogram: Series<L> & { readonly observe: (...sample: Sample<L, [value: number, traceId?: string]>) => void }
}

type DeclaredLabels<D> = D extends { readonly labels: infer L extends Labels } ? L : []

/** The metrics of a table, by name. */
export type DeclaredMetrics<T extends MetricTable> = {
  readonly [N in keyof T]: MetricKinds<DeclaredLabels<T[N]>>[keyof T[N] & keyof MetricKinds<[]>]
}

/** Metrics of one process. */
export type Metrics = {
  readonly declare: <const T extends MetricTable>(table: T) => DeclaredMetrics<T>
  /** The text of all metrics, as OpenMetrics if there are exemplars and the `Accept` header of the scraper names it. */
  readonly text: (accept?: string) => Promise<string>
  /** The format of `text`. */
  readonly contentType: (accept?: string) => string
}

/** Milliseconds; longer than any process runs. */
const never = 2 ** 31 - 1

/**
 * Collects the default metrics of process and Node, except the distribution of the event loop's delay: its timer wakes
 * every idle process a hundred times a second, half a percent of a core each. The loop's utilization costs nothing to read.
 */
const collectProcessMetrics = (registry: Registry, component: string) => {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: never })
  for (const part of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']) {
    registry.removeSingleMetric(`nodejs_eventloop_lag_${part}_seconds`)
  }
  // Of workers there are many: what Node reports about itself would be most of their series.
  const ofNode = registry.getMetricsAsArray().map(({ name }) => name)
  if (component === 'worker') {
    for (const name of ofNode.filter((each) => each.startsWith('nodejs_'))) registry.removeSingleMetric(name)
  }
  let before = performance.eventLoopUtilization()
  const utilization = new Gauge({
    name: 'shutterfleet_event_loop_utilization_ratio',
    help: 'Part of the time since the last scrape in which the event loop was busy, 0 to 1',
    collect() {
      const now = performance.eventLoopUtilization()
      this.set(performance.eventLoopUtilization(now, before).utilization)
      before = now
    },
    registers: [],
  })
  registry.registerMetric(utilization)
  new Gauge({
    name: 'shutterfleet_build_info',
    help: 'Always 1: the release of the service, and the version of Node that runs it',
    labelNames: ['version', 'nodejs'],
    registers: [registry],
  }).set({ version: readProductVersion(), nodejs: process.versions.node }, 1)
}

/** A histogram of prom-client with exemplars takes an object, and refuses a registry of Prometheus' own format, which omits them. */
const createWithExemplars = (registry: Registry, options: ConstructorParameters<typeof Histogram<string>>[0]) => {
  const histogram = new Histogram({ ...options, registers: [], enableExemplars: true })
  registry.registerMetric(histogram)
  const hasLabels = (options.labelNames ?? []).length > 0
  return {
    remove: (labels: Readonly<Record<string, string>>) => histogram.remove(labels),
    reset: () => histogram.reset(),
    observe: (...sample: readonly unknown[]) => {
      const [labels, value, traceId] = (hasLabels ? sample : [{}, ...sample]) as [
        Record<string, string>,
        number,
        string?,
      ]
      histogram.observe({ labels, value, exemplarLabels: traceId === undefined ? {} : { trace_id: traceId } })
    },
  }
}

const create = (registry: Registry, name: string, { labels = [], ...kind }: Description, withExemplars: boolean) => {
  const common = { name: `shutterfleet_${name}`, labelNames: [...labels], registers: [registry] }
  if ('counter' in kind) {
    const counter = new Counter({ ...common, help: kind.counter })
    for (const series of kind.initial ?? []) counter.inc(series, 0)
    return counter
  }
  if ('gauge' in kind) return new Gauge({ ...common, help: kind.gauge })
  const options = { ...common, help: kind.histogram, buckets: [...kind.buckets] }
  return withExemplars && kind.hasExemplars ? createWithExemplars(registry, options) : new Histogram(options)
}

/** The metrics of `registry` as OpenMetrics. prom-client renames counters for it, so each metric is an heir that shares the values. */
const openMetricsOf = (registry: Registry, labels: Readonly<Record<string, string>>) => {
  const open = new Registry<OpenMetricsContentType>()
  open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  open.setDefaultLabels(labels)
  for (const metric of registry.getMetricsAsArray()) open.registerMetric(Object.create(metric) as Metric)
  return open.metrics()
}

/**
 * Creates the metrics of a process; `component` and `constant` are labels of each. Scrapers set no label `component`, as they do `service`. With exemplars, scrapers that accept OpenMetrics get
 * it: Prometheus' own format has none.
 */
export const createMetrics = (
  component: string,
  constant: Readonly<Record<string, string>> = {},
  { withExemplars = false } = {},
): Metrics => {
  const registry = new Registry()
  const labels = { component, ...constant }
  registry.setDefaultLabels(labels)
  collectProcessMetrics(registry, component)
  const isOpen = (accept = '') => withExemplars && accept.includes('application/openmetrics-text')
  return {
    declare: <const T extends MetricTable>(table: T) => {
      const declared = Object.entries(table).map(([name, description]) => [
        name,
        create(registry, name, description, withExemplars),
      ])
      return Object.fromEntries(declared) as DeclaredMetrics<T>
    },
    text: (accept) => (isOpen(accept) ? openMetricsOf(registry, labels) : registry.metrics()),
    contentType: (accept) => (isOpen(accept) ? Registry.OPENMETRICS_CONTENT_TYPE : registry.contentType),
  }
}

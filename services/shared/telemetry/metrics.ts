import { performance } from 'node:perf_hooks'
import { collectDefaultMetrics, Counter, Gauge, Histogram, type OpenMetricsContentType, Registry } from 'prom-client'
import { readProductVersion } from '#shared/config/product-version.ts'

type Labels = readonly string[]

/** Help text by kind, and names of labels, whose values come from unions, never from input. */
type Description = { readonly labels?: Labels } & (
  | { readonly counter: string }
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
  /** The text of all metrics. */
  readonly text: () => Promise<string>
  readonly contentType: string
}

type MetricRegistry = Registry | Registry<OpenMetricsContentType>

/** Milliseconds; longer than any process runs. */
const never = 2 ** 31 - 1

/**
 * Collects the default metrics of process and Node, except the distribution of the event loop's delay: its timer wakes
 * every idle process a hundred times a second, half a percent of a core each. The loop's utilization costs nothing to read.
 */
const collectProcessMetrics = (registry: MetricRegistry) => {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: never })
  for (const part of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']) {
    registry.removeSingleMetric(`nodejs_eventloop_lag_${part}_seconds`)
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
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version: readProductVersion(), node: process.versions.node }, 1)
}

/** A histogram of prom-client with exemplars takes an object. */
const createWithExemplars = (options: ConstructorParameters<typeof Histogram<string>>[0]) => {
  const histogram = new Histogram({ ...options, enableExemplars: true })
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

const create = (
  registry: MetricRegistry,
  name: string,
  { labels = [], ...kind }: Description,
  withExemplars: boolean,
) => {
  const common = { name: `shutterfleet_${name}`, labelNames: [...labels], registers: [registry] }
  if ('counter' in kind) return new Counter({ ...common, help: kind.counter })
  if ('gauge' in kind) return new Gauge({ ...common, help: kind.gauge })
  const options = { ...common, help: kind.histogram, buckets: [...kind.buckets] }
  return withExemplars && kind.hasExemplars ? createWithExemplars(options) : new Histogram(options)
}

const createOpenMetricsRegistry = () => {
  const registry = new Registry<OpenMetricsContentType>()
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  return registry
}

/**
 * Creates the metrics of a process; `service` and `constant` are labels of each. With exemplars the text is OpenMetrics, as
 * Prometheus' own format has none; prom-client cannot serve both, because it renames counters for OpenMetrics.
 */
export const createMetrics = (
  service: string,
  constant: Readonly<Record<string, string>> = {},
  { withExemplars = false } = {},
): Metrics => {
  const registry = withExemplars ? createOpenMetricsRegistry() : new Registry()
  registry.setDefaultLabels({ service, ...constant })
  collectProcessMetrics(registry)
  return {
    declare: <const T extends MetricTable>(table: T) => {
      const declared = Object.entries(table).map(([name, description]) => [
        name,
        create(registry, name, description, withExemplars),
      ])
      return Object.fromEntries(declared) as DeclaredMetrics<T>
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

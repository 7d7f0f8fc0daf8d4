import { performance } from 'node:perf_hooks'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { readProductVersion } from '#shared/config/product-version.ts'

type Labels = readonly string[]

/** Help text by kind, and names of labels, whose values come from unions, never from input. */
type Description = { readonly labels?: Labels } & (
  | { readonly counter: string }
  | { readonly gauge: string }
  | { readonly histogram: string; readonly buckets: readonly number[] }
)

/** Metrics by name, without the prefix `shutterfleet_`. */
export type MetricTable = Readonly<Record<string, Description>>

type LabelValues<L extends Labels> = Readonly<Record<L[number], string>>

/** Labels, if there are some, then the value. */
type Sample<L extends Labels, V extends [value?: number]> = L extends readonly [] ? V : [labels: LabelValues<L>, ...V]

type Series<L extends Labels> = { readonly remove: (labels: LabelValues<L>) => void; readonly reset: () => void }
type Increasable<L extends Labels> = Series<L> & { readonly inc: (...sample: Sample<L, [value?: number]>) => void }

type MetricKinds<L extends Labels> = {
  counter: Increasable<L>
  gauge: Increasable<L> & {
    readonly dec: (...sample: Sample<L, [value?: number]>) => void
    readonly set: (...sample: Sample<L, [value: number]>) => void
  }
  histogram: Series<L> & { readonly observe: (...sample: Sample<L, [value: number]>) => void }
}

type DeclaredLabels<D> = D extends { readonly labels: infer L extends Labels } ? L : []

/** The metrics of a table, by name. */
export type DeclaredMetrics<T extends MetricTable> = {
  readonly [N in keyof T]: MetricKinds<DeclaredLabels<T[N]>>[keyof T[N] & keyof MetricKinds<[]>]
}

/** Metrics of one process. */
export type Metrics = {
  readonly declare: <const T extends MetricTable>(table: T) => DeclaredMetrics<T>
  /** The Prometheus text of all metrics. */
  readonly text: () => Promise<string>
}

/** Milliseconds; longer than any process runs. */
const never = 2 ** 31 - 1

/**
 * Collects the default metrics of process and Node, except the distribution of the event loop's delay: its timer wakes
 * every idle process a hundred times a second, half a percent of a core each. The loop's utilization costs nothing to read.
 */
const collectProcessMetrics = (registry: Registry) => {
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

const create = (registry: Registry, name: string, { labels = [], ...kind }: Description) => {
  const common = { name: `shutterfleet_${name}`, labelNames: [...labels], registers: [registry] }
  if ('counter' in kind) return new Counter({ ...common, help: kind.counter })
  if ('gauge' in kind) return new Gauge({ ...common, help: kind.gauge })
  return new Histogram({ ...common, help: kind.histogram, buckets: [...kind.buckets] })
}

/** Creates the metrics of a process; `service` and `constant` are labels of each. */
export const createMetrics = (service: string, constant: Readonly<Record<string, string>> = {}): Metrics => {
  const registry = new Registry()
  registry.setDefaultLabels({ service, ...constant })
  collectProcessMetrics(registry)
  return {
    declare: <const T extends MetricTable>(table: T) => {
      const declared = Object.entries(table).map(([name, description]) => [name, create(registry, name, description)])
      return Object.fromEntries(declared) as DeclaredMetrics<T>
    },
    text: () => registry.metrics(),
  }
}

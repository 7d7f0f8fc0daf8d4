import { performance } from 'node:perf_hooks'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

type Labels = readonly string[]
type Described<L extends Labels> = { name: string; help: string; labels?: L }

/** Metrics of one process. Names get the prefix `shutterfleet_`; label values come from unions, never from input. */
export type Metrics = {
  readonly counter: <const L extends Labels = []>(
    metric: Described<L>,
  ) => Pick<Counter<L[number]>, 'inc' | 'remove' | 'reset'>
  readonly gauge: <const L extends Labels = []>(
    metric: Described<L>,
  ) => Pick<Gauge<L[number]>, 'inc' | 'dec' | 'set' | 'remove' | 'reset'>
  readonly histogram: <const L extends Labels = []>(
    metric: Described<L> & { buckets: number[] },
  ) => Pick<Histogram<L[number]>, 'observe' | 'remove' | 'reset'>
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
}

/** Creates the metrics of a process; `service` and `constant` are labels of each. */
export const createMetrics = (service: string, constant: Readonly<Record<string, string>> = {}): Metrics => {
  const registry = new Registry()
  registry.setDefaultLabels({ service, ...constant })
  collectProcessMetrics(registry)
  const common = <L extends Labels>(metric: Described<L>) => ({
    name: `shutterfleet_${metric.name}`,
    help: metric.help,
    labelNames: [...(metric.labels ?? [])] as L[number][],
    registers: [registry],
  })
  return {
    counter: (metric) => new Counter(common(metric)),
    gauge: (metric) => new Gauge(common(metric)),
    histogram: (metric) => new Histogram({ ...common(metric), buckets: metric.buckets }),
    text: () => registry.metrics(),
  }
}

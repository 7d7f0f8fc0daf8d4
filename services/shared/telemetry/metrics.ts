import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

type Labels = readonly string[]
type Described<L extends Labels> = { name: string; help: string; labels?: L }

/** Metrics of one process. Names get the prefix `shutterfleet_`; label values come from unions, never from input. */
export type Metrics = {
  readonly counter: <const L extends Labels = []>(of: Described<L>) => Counter<L[number]>
  readonly gauge: <const L extends Labels = []>(of: Described<L>) => Gauge<L[number]>
  readonly histogram: <const L extends Labels = []>(of: Described<L> & { buckets: number[] }) => Histogram<L[number]>
  /** The Prometheus text of all metrics. */
  readonly text: () => Promise<string>
}

/** Makes the metrics of a process; `service` is a constant label of each. */
export const createMetrics = (service: string): Metrics => {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  collectDefaultMetrics({ register: registry })
  const common = <L extends Labels>(of: Described<L>) => ({
    name: `shutterfleet_${of.name}`,
    help: of.help,
    labelNames: [...(of.labels ?? [])] as L[number][],
    registers: [registry],
  })
  return {
    counter: (of) => new Counter(common(of)),
    gauge: (of) => new Gauge(common(of)),
    histogram: (of) => new Histogram({ ...common(of), buckets: of.buckets }),
    text: () => registry.metrics(),
  }
}

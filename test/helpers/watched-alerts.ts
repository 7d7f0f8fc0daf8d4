import type { Test } from 'tap'
import { eventually } from './eventually.ts'
import { type Prometheus, startPrometheus } from './prometheus.ts'
import type { System } from './system.ts'

/** Divisor for every `for` of the shipped rules: fifteen minutes become half a minute. */
const hurry = 30
/** Number of evaluations, one per second, that exceeds the longest shortened `for`. */
const evaluationsMin = 35
const withinMs = 480_000

/** A Prometheus for a system, and its firing alerts. */
export type WatchedAlerts = AsyncDisposable & {
  readonly prometheus: Prometheus
  /** Waits until a query returns a series whose last value is above `min`. */
  readonly reaches: (expr: string, min: number) => Promise<void>
  /** Waits until all of `alerts` fire, and until any other would have fired; asserts that no other has fired since the start. */
  readonly expect: (t: Test, alerts: readonly string[]) => Promise<void>
  /** Like `expect`, of critical alerts only: any warning may fire. */
  readonly expectCritical: (t: Test, alerts: readonly string[]) => Promise<void>
}

/** Starts a Prometheus that scrapes the services of a system whose worker is ready, and evaluates the shipped rules. */
export const watchAlerts = async (system: System): Promise<WatchedAlerts> => {
  const { services } = await system.readLocal()
  return watchAlertsOf(services.flatMap(({ metrics_url: url }) => (url ? [new URL(url).host] : [])))
}

/** As `watchAlerts`, of these hosts with ports. */
export const watchAlertsOf = async (targets: readonly string[]): Promise<WatchedAlerts> => {
  const prometheus = await startPrometheus(targets, { hurry })
  const fired = new Map<string, string>()
  const evaluations = new Set<string>()
  const look = async () => {
    const rules = await prometheus.rules()
    for (const { name, state, labels } of rules) if (state === 'firing') fired.set(name, labels['severity'] ?? '')
    const [first] = rules
    if (first) evaluations.add(first.lastEvaluation)
  }
  /** Waits until all of `alerts` have fired, and until any other would have. */
  const awaitAll = async (t: Test, alerts: readonly string[]) => {
    await eventually(async () => (await look(), alerts.every((name) => fired.has(name))), {
      withinMs,
      what: `${alerts.join(', ')} fire`,
    }).catch((error: unknown) => t.fail(`${String(error)}; firing: ${[...fired.keys()].join(', ')}`))
    evaluations.clear()
    await eventually(async () => (await look(), evaluations.size > evaluationsMin), { withinMs, what: 'evaluations' })
  }
  return {
    prometheus,
    reaches: (expr, min) =>
      eventually(async () => (await prometheus.query(expr, 0)).some(({ values }) => Number(values.at(-1)?.[1]) > min), {
        withinMs,
        what: `${expr} > ${min}`,
      }),
    expect: async (t, alerts) => {
      await awaitAll(t, alerts)
      t.strictSame([...fired.keys()].toSorted(), alerts.toSorted())
    },
    expectCritical: async (t, alerts) => {
      await awaitAll(t, alerts)
      const critical = [...fired].flatMap(([name, severity]) => (severity === 'critical' ? [name] : []))
      t.strictSame(critical.toSorted(), alerts.toSorted())
    },
    [Symbol.asyncDispose]: () => prometheus[Symbol.asyncDispose](),
  }
}

/** Sends captures continuously, `atOnce` in parallel, until disposed. */
export const keepSending = (atOnce: number, send: (nth: number) => Promise<Response>): AsyncDisposable => {
  const stop = new AbortController()
  let sent = 0
  const one = async () => {
    while (!stop.signal.aborted) {
      sent += 1
      const response = await send(sent)
      const text = await response.text()
      if (text.includes('VALIDATION_ERROR')) throw new Error(text)
    }
  }
  const all = Promise.all(Array.from({ length: atOnce }, one))
  all.catch(() => {})
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await all
    },
  }
}

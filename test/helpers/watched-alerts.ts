import type { Test } from 'tap'
import { eventually } from './eventually.ts'
import { sentAlerts } from './inhibition.ts'
import { type Prometheus, prometheusPollMs as everyMs, startPrometheus } from './prometheus.ts'
import type { System } from './system.ts'

/** Divisor for every `for` of the shipped rules: fifteen minutes become half a minute. */
const hurry = 30
/** Number of evaluations, one per second, that exceeds every shortened `for` but those of half an hour and longer. */
const evaluationsMax = 35
/** Number of evaluations in succession without a pending alert after which none is about to fire. */
const quietEvaluations = 12
const withinMs = 480_000

/** A Prometheus for a system, and its firing alerts. */
export type WatchedAlerts = AsyncDisposable & {
  readonly prometheus: Prometheus
  /** Waits until a query returns a series whose last value is above `min`. */
  readonly reaches: (expr: string, min: number) => Promise<void>
  /** Waits until all of `alerts` fire, and until no other is about to; asserts that no other has fired since the start. */
  readonly expect: (t: Test, alerts: readonly string[]) => Promise<void>
  /** Like `expect`, of the critical alerts that Alertmanager sends with the documented rules of inhibition: any warning may fire. */
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
  /** Labels by name and labels. */
  const fired = new Map<string, Readonly<Record<string, string>>>()
  const firedNames = () => new Set([...fired.values()].map(({ alertname = '' }) => alertname))
  const look = async () => {
    const rules = await prometheus.rules()
    for (const labels of await prometheus.firing()) fired.set(JSON.stringify(labels), labels)
    return rules
  }
  /** Waits until an alert that is pending now would have fired, and others have had time to become pending. */
  const awaitOthers = async () => {
    let [evaluations, quiet, last] = [0, 0, '']
    const isOver = async () => {
      const rules = await look()
      const { lastEvaluation = '' } = rules[0] ?? {}
      if (lastEvaluation !== last) {
        evaluations += 1
        quiet = rules.some(({ name, state }) => state === 'pending' && !firedNames().has(name)) ? 0 : quiet + 1
      }
      last = lastEvaluation
      return quiet > quietEvaluations || evaluations > evaluationsMax
    }
    await eventually(isOver, { withinMs, everyMs, what: 'evaluations' })
  }
  /** Waits until all of `alerts` have fired, and until no other is about to. */
  const awaitAll = async (t: Test, alerts: readonly string[]) => {
    await eventually(async () => (await look(), alerts.every((name) => firedNames().has(name))), {
      withinMs,
      everyMs,
      what: `${alerts.join(', ')} fire`,
    }).catch((error: unknown) => t.fail(`${String(error)}; firing: ${[...firedNames()].join(', ')}`))
    await awaitOthers()
  }
  return {
    prometheus,
    reaches: (expr, min) =>
      eventually(async () => (await prometheus.query(expr, 0)).some(({ values }) => Number(values.at(-1)?.[1]) > min), {
        withinMs,
        everyMs,
        what: `${expr} > ${min}`,
      }),
    expect: async (t, alerts) => {
      await awaitAll(t, alerts)
      t.strictSame([...firedNames()].toSorted(), alerts.toSorted())
    },
    expectCritical: async (t, alerts) => {
      await awaitAll(t, alerts)
      const critical = sentAlerts([...fired.values()]).filter(({ severity }) => severity === 'critical')
      t.strictSame([...new Set(critical.map(({ alertname = '' }) => alertname))].toSorted(), alerts.toSorted())
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

import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { pause } from './pause.ts'
import type { Rest } from './rest.ts'
import { within } from './within.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics, MetricTable } from '#shared/telemetry/metrics.ts'

/** A store that services write to. */
type StoreName = 'postgresql' | 'nats' | 'object_store'
/** Writes to a store, and leaves nothing behind; rejects if the store refuses. */
type StoreProbe = () => Promise<unknown>

/** Longest time of a write. */
const probeMs = 5000
/** Each probe of an object store in a cloud is billed. */
const everyMs: Readonly<Record<StoreName, number>> = { postgresql: 5000, nats: 5000, object_store: 15_000 }
const retryMs = 1000
/** The requests to each store that are counted. */
const operations: Readonly<Record<StoreName, readonly string[]>> = {
  postgresql: ['query', 'transaction', 'entities'],
  nats: ['request'],
  object_store: ['get', 'put', 'delete'],
}

const metricTable = {
  store_up: { gauge: '1 while writes to the store succeed, else 0', labels: ['store'] },
  store_probe_failures_total: { counter: 'Probes that could not write to the store', labels: ['store'] },
  store_requests_total: {
    counter:
      'Requests to PostgreSQL (a transaction is one), NATS (those with a response) and the object store; outcome is ok or error',
    labels: ['store', 'operation', 'outcome'],
  },
  store_request_seconds: {
    histogram:
      'Time until the store had responded, of a transaction until its end, of an object that is read until its first byte',
    labels: ['store', 'operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30],
  },
} as const satisfies MetricTable

/** The events of the stores of a service: their probes, and the requests to them. */
export const createStoreEvents = (log: Logger, metrics: Metrics) => {
  const metric = metrics.declare(metricTable)
  const down = new Set<StoreName>()
  return {
    storeProbed: (store: StoreName, failure: AppError | undefined) => {
      metric.store_up.set({ store }, failure ? 0 : 1)
      if (!failure) return down.delete(store) && log.info({ store }, 'store accepts writes again')
      metric.store_probe_failures_total.inc({ store })
      if (!down.has(store)) log.error({ store, err: failure }, 'store refuses writes, not ready until it accepts them')
      return down.add(store)
    },
    /** Counts the requests to a store; for `measureCalls`. */
    storeRequested: (store: StoreName) => {
      for (const operation of operations[store])
        metric.store_requests_total.inc({ store, operation, outcome: 'error' }, 0)
      return (operation: string, ms: number, isFailed: boolean) => {
        metric.store_requests_total.inc({ store, operation, outcome: isFailed ? 'error' : 'ok' })
        metric.store_request_seconds.observe({ store, operation }, ms / 1000)
      }
    },
  }
}

/** Whether the stores that a service needs accept writes. */
export type StoreWatch = ReturnType<typeof createStoreWatch>

/**
 * From `start` until disposed probes each store every few seconds, at rest every half a minute, one write at a time: one without an
 * end fails every `boundMs`, by default 5 s.
 */
export const createStoreWatch = (
  events: { readonly storeProbed: (store: StoreName, failure: AppError | undefined) => unknown },
  probes: Readonly<Partial<Record<StoreName, StoreProbe>>>,
  { rest, boundMs = probeMs }: { readonly rest: Pick<Rest, 'wait'>; readonly boundMs?: number },
) => {
  const stop = new AbortController()
  const all = Object.entries(probes) as [StoreName, StoreProbe][]
  const states = new Map<string, string>(all.map(([store]) => [store, 'not probed yet']))
  const tooLate = () =>
    new AppError('SERVICE_UNAVAILABLE', { message: `no response to a write for ${boundMs / 1000} s` })
  const run = async ([store, probe]: [StoreName, StoreProbe]) => {
    let running: Promise<unknown> | undefined
    while (!stop.signal.aborted) {
      running ??= probe().finally(() => (running = undefined))
      const failure = await within(running, boundMs, tooLate).then(() => undefined, toAppError)
      if (stop.signal.aborted) return
      states.set(store, failure ? `refuses writes: ${failure.message}` : 'ok')
      events.storeProbed(store, failure)
      await (failure ? pause(retryMs, stop.signal) : rest.wait(everyMs[store], stop.signal))
    }
  }
  return {
    start: (): void => {
      for (const each of all) void run(each)
    },
    /** Whether all stores accepted the last write; false before the first. */
    areUp: (): boolean => [...states.values()].every((state) => state === 'ok'),
    /** By store `ok`, or why it is not. */
    detail: (): Readonly<Record<string, string>> => Object.fromEntries(states),
    [Symbol.dispose]: (): void => stop.abort(),
  }
}

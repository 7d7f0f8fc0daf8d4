import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { pause } from '#shared/process/pause.ts'
import { within } from '#shared/process/within.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'

/** A store that services write to. */
export type StoreName = 'postgresql' | 'nats' | 'object_store'

/** Writes to a store, and leaves nothing behind; rejects if the store refuses. */
type StoreProbe = () => Promise<unknown>

/** Longest time of a write. */
const probeMs = 5000
/** Each probe of an object store in a cloud is billed. */
const everyMs: Readonly<Record<StoreName, number>> = { postgresql: 5000, nats: 5000, object_store: 15_000 }
const retryMs = 1000

/** The event of a probe of a store; each service that watches stores has it. */
export const createStoreEvents = (log: Logger, metrics: Metrics) => {
  const up = metrics.gauge({ name: 'store_up', help: '1 while writes to the store succeed, else 0', labels: ['store'] })
  const failures = metrics.counter({
    name: 'store_probe_failures_total',
    help: 'Probes that could not write to the store',
    labels: ['store'],
  })
  const down = new Set<StoreName>()
  return {
    storeProbed: (store: StoreName, failure: AppError | undefined) => {
      up.set({ store }, failure ? 0 : 1)
      if (failure) {
        failures.inc({ store })
        if (!down.has(store))
          log.error({ store, err: failure }, 'store refuses writes, not ready until it accepts them')
        down.add(store)
      } else if (down.delete(store)) log.info({ store }, 'store accepts writes again')
    },
  }
}

type Events = ReturnType<typeof createStoreEvents>

/** Probes a store until `stop`, one write at a time: one that takes too long counts as failed, again and again, until it ends. */
const probeForever = async (
  [store, probe]: readonly [StoreName, StoreProbe],
  probed: Events['storeProbed'],
  stop: AbortSignal,
): Promise<void> => {
  const tooLate = () => new AppError('SERVICE_UNAVAILABLE', { message: `no answer to a write for ${probeMs / 1000} s` })
  let running: Promise<unknown> | undefined
  while (!stop.aborted) {
    running ??= probe().finally(() => (running = undefined))
    const failure = await within(running, probeMs, tooLate).then(() => undefined, toAppError)
    if (!stop.aborted) probed(store, failure)
    await pause(failure ? retryMs : everyMs[store], stop)
  }
}

/** Whether the stores that a service needs accept writes. */
export type StoreWatch = Disposable & {
  readonly start: () => void
  /** Whether all stores have accepted the last write; false before the first. */
  readonly areUp: () => boolean
  /** By store `ok`, or why it is not. */
  readonly detail: () => Readonly<Record<string, string>>
}

/** Probes stores every few seconds from `start` until disposed. */
export const createStoreWatch = (
  { storeProbed }: Events,
  probes: Readonly<Partial<Record<StoreName, StoreProbe>>>,
): StoreWatch => {
  const stop = new AbortController()
  const all = Object.entries(probes) as [StoreName, StoreProbe][]
  const states = new Map<string, string>(all.map(([store]) => [store, 'not probed yet']))
  const probed: Events['storeProbed'] = (store, failure) => {
    states.set(store, failure ? `refuses writes: ${failure.message}` : 'ok')
    storeProbed(store, failure)
  }
  return {
    start: () => {
      for (const each of all) void probeForever(each, probed, stop.signal)
    },
    areUp: () => [...states.values()].every((state) => state === 'ok'),
    detail: () => Object.fromEntries(states),
    [Symbol.dispose]: () => stop.abort(),
  }
}

import { byLane, type Lane, lanes, type Pool } from '#shared/capture/lane.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { heartbeatCodec, heartbeatMs, type InstalledBrowser } from '#shared/queue/messages.ts'
import { heartbeatSubject } from '#shared/queue/subjects.ts'
import type { WorkerLifecycle } from './lifecycle.ts'

/** Weight of the newest capture in the mean service time. */
const newestWeight = 0.1

/** Number of a lane's newest captures whose mean is its service time. */
const laneSamples = 20
/** Share of them that is left out, the longest. */
const longestShare = 0.1
/** The most that a heartbeat reports. */
const serviceMsMax = 600_000

/** Means of the time that captures take, in whole milliseconds. */
export type ServiceTime = {
  readonly add: (lane: Lane, tookMs: number) => void
  /** Exponentially weighted mean of all captures; undefined before the first. */
  readonly meanMs: () => number | undefined
  /** The trimmed mean of each lane that had a capture. */
  readonly laneMs: () => Partial<Record<Lane, number>>
}

/**
 * The mean without the longest tenth, at least one of several: a page that hangs until its timeout would raise it manifold. A median
 * would ignore how much longer than half of the captures the others take, which costs slots.
 */
const trimmedMean = (samples: readonly number[]): number => {
  const trimmed = samples.length > 1 ? Math.ceil(samples.length * longestShare) : 0
  const counted = samples.toSorted((one, other) => one - other).slice(0, samples.length - trimmed)
  return Math.min(serviceMsMax, Math.ceil(counted.reduce((sum, each) => sum + each, 0) / counted.length))
}

/** Creates a service time without captures. */
export const createServiceTime = (): ServiceTime => {
  let mean: number | undefined
  const samples = byLane((): number[] => [])
  return {
    add: (lane, tookMs) => {
      mean = mean === undefined ? tookMs : mean + (tookMs - mean) * newestWeight
      samples[lane].push(tookMs)
      if (samples[lane].length > laneSamples) samples[lane].shift()
    },
    meanMs: () => (mean === undefined ? undefined : Math.min(serviceMsMax, Math.round(mean))),
    laneMs: () =>
      Object.fromEntries(
        lanes.flatMap((lane) => (samples[lane].length > 0 ? [[lane, trimmedMean(samples[lane])]] : [])),
      ),
  }
}

/** Publishes the heartbeat of this worker to the controller. Not stored, since the next one replaces a lost one. */
export const publishHeartbeat = (
  worker: {
    readonly queue: Queue
    readonly pool: Pool
    readonly pod: string
    readonly slots: number
    readonly lifecycle: WorkerLifecycle
    /** Undefined until they were read. */
    readonly browsers: () => readonly InstalledBrowser[] | undefined
  },
  service: ServiceTime,
): void => {
  const { queue, pool, pod, slots, lifecycle } = worker
  const browsers = worker.browsers()
  const captures = [...lifecycle.captures()]
  const busy = Math.min(slots, captures.length)
  const serviceMs = service.meanMs()
  const message = { pod, pool, pid: process.pid, slots, busy, state: lifecycle.state(), captures }
  queue.publish(
    heartbeatSubject({ pool, pod }),
    heartbeatCodec.encode({
      ...message,
      ...(serviceMs !== undefined && { serviceMs, laneServiceMs: service.laneMs() }),
      ...(browsers && { browsers: [...browsers] }),
    }),
  )
}

/** Longest time from the begin or end of a capture until the next heartbeat. */
const coalesceMs = 500

/** Calls `publish` once for all requests within half a second, at the end of it, until disposed. */
export const coalesceHeartbeats = (publish: () => void): Disposable & { readonly request: () => void } => {
  let timer: NodeJS.Timeout | undefined
  return {
    request: () => {
      timer ??= setTimeout(() => {
        timer = undefined
        publish()
      }, coalesceMs)
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

/** Bound on how early a timer may fire. */
const earlyMs = 50

/**
 * Calls `publish` at each multiple of `heartbeatMs` on the system clock, until disposed, so that a controller with a
 * thousand workers wakes up once for all of them. If clocks differ it wakes up more often.
 */
export const startHeartbeat = (publish: () => void): Disposable => {
  let timer: NodeJS.Timeout | undefined
  const schedule = () => {
    const leftMs = heartbeatMs - (Date.now() % heartbeatMs)
    const waitMs = leftMs > earlyMs ? leftMs : leftMs + heartbeatMs
    timer = setTimeout(() => {
      schedule()
      publish()
    }, waitMs)
  }
  schedule()
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}

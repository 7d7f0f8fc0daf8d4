import type { Pool } from '#shared/capture/lane.ts'
import type { ServiceTime } from '#shared/policy/service-time.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { heartbeatCodec, heartbeatMs, type InstalledBrowser } from '#shared/queue/messages.ts'
import { heartbeatSubject } from '#shared/queue/subjects.ts'
import type { WorkerLifecycle } from './lifecycle.ts'

/** Publishes the heartbeat of this worker to the controller. Not stored, since the next one replaces a lost one. */
export const publishHeartbeat = (
  worker: {
    readonly queue: Pick<Queue, 'publish'>
    readonly pool: Pool
    readonly pod: string
    readonly slots: number
    readonly reservedSlots: number
    readonly lifecycle: WorkerLifecycle
    /** Undefined until they were read. */
    readonly browsers: () => readonly InstalledBrowser[] | undefined
  },
  service: ServiceTime,
): void => {
  const { queue, pool, pod, slots, reservedSlots, lifecycle } = worker
  const browsers = worker.browsers()
  const captures = [...lifecycle.captures()]
  const busy = Math.min(slots, captures.length)
  const serviceMs = service.meanMs()
  const message = { pod, pool, pid: process.pid, slots, reservedSlots, busy, state: lifecycle.state(), captures }
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

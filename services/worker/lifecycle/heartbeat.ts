import type { Pool } from '#shared/capture/lane.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { heartbeatCodec, heartbeatMs } from '#shared/queue/messages.ts'
import { heartbeatSubject } from '#shared/queue/subjects.ts'
import type { WorkerLifecycle } from './lifecycle.ts'

/** Weight of the newest capture in the mean service time. */
const newestWeight = 0.1

/** The mean time that captures take, newer ones counting more. */
export type ServiceTime = { readonly add: (tookMs: number) => void; readonly meanMs: () => number | undefined }

/** Begins without a mean. */
export const createServiceTime = (): ServiceTime => {
  let mean: number | undefined
  return {
    add: (tookMs) => {
      mean = mean === undefined ? tookMs : mean + (tookMs - mean) * newestWeight
    },
    meanMs: () => (mean === undefined ? undefined : Math.round(mean)),
  }
}

/** Publishes the state of this worker for the pool's controller. Not stored: a lost heartbeat is followed by the next. */
export const publishHeartbeat = (
  worker: { queue: Queue; pool: Pool; pod: string; slots: number; lifecycle: WorkerLifecycle },
  service: ServiceTime,
): void => {
  const { queue, pool, pod, slots, lifecycle } = worker
  const captures = [...lifecycle.captures()]
  const busy = Math.min(slots, captures.length)
  const serviceMs = service.meanMs()
  const message = { pod, pool, pid: process.pid, slots, busy, state: lifecycle.state(), captures }
  queue.publish(
    heartbeatSubject({ pool, pod }),
    heartbeatCodec.encode({ ...message, ...(serviceMs !== undefined && { serviceMs: Math.min(serviceMs, 600_000) }) }),
  )
}

/** Most time from when a worker begins or ends a capture until its next heartbeat. */
const coalesceMs = 500

/** Calls `publish` once for all requests of half a second, at its end, until disposed. */
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

/** A timer may fire so much too early. */
const earlyMs = 50

/**
 * Calls `publish` every `heartbeatMs`, until disposed, at the same moments of the clock in each process: a controller that
 * subscribes to a thousand workers then wakes once for all of them. Where clocks differ, it only wakes more often.
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

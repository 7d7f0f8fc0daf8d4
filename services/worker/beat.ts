import type { Pool } from '#shared/capture/lane.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { beatCodec, beatMs } from '#shared/queue/messages.ts'
import { beatSubject } from '#shared/queue/subjects.ts'
import type { WorkerLifecycle } from './lifecycle.ts'
import type { ServiceTime } from './service-time.ts'

/** Tells the pool's controller how this worker is. Not stored: a lost beat is followed by the next. */
export const beat = (
  worker: { queue: Queue; pool: Pool; pod: string; slots: number; lifecycle: WorkerLifecycle },
  service: ServiceTime,
): void => {
  const { queue, pool, pod, slots, lifecycle } = worker
  const captures = [...lifecycle.captures()]
  const busy = Math.min(slots, captures.length)
  const serviceMs = service.meanMs()
  const message = { pod, pool, pid: process.pid, slots, busy, state: lifecycle.state(), captures }
  queue.publish(
    beatSubject({ pool, pod }),
    beatCodec.encode({ ...message, ...(serviceMs !== undefined && { serviceMs: Math.min(serviceMs, 600_000) }) }),
  )
}

/** Most time from when a worker begins or ends a capture until it says so. */
const gatherMs = 500

/** Calls `say` once for all that was noted within half a second, at its end, until disposed. */
export const gatherBeats = (say: () => void): Disposable & { readonly note: () => void } => {
  let timer: NodeJS.Timeout | undefined
  return {
    note: () => {
      timer ??= setTimeout(() => {
        timer = undefined
        say()
      }, gatherMs)
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

/** A timer may come so much too early. */
const earlyMs = 50

/**
 * Calls `say` every `beatMs`, until disposed, at the same moments of the calendar in each process: who listens to a thousand
 * workers is then woken once for all of them. Where calendars differ, it is only woken more often.
 */
export const beatInStep = (say: () => void): Disposable => {
  let timer: NodeJS.Timeout | undefined
  const wait = () => {
    const leftMs = beatMs - (Date.now() % beatMs)
    timer = setTimeout(
      () => {
        wait()
        say()
      },
      leftMs > earlyMs ? leftMs : leftMs + beatMs,
    )
  }
  wait()
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from './child.ts'

const shortestWaitMs = 250
const longestWaitMs = 30_000
/** A part that has lived this long is healthy: the next wait is the shortest again. */
const healthyMs = 30_000

/** A part of the system that is up: its process, and the addresses that it announced. */
export type Running = { readonly child: Child; readonly addresses: Readonly<Record<string, string>> }

/** A part that is started again whenever it ends. */
export type Part = {
  readonly name: string
  /** The process that runs now, or the last one that did. */
  readonly current: () => Running
  /** Ends the part for good; SIGKILL after `graceMs`. */
  readonly stop: (graceMs: number) => Promise<void>
}

/** What a supervised part tells of its life. */
export type PartEvents = {
  readonly died: (name: string, how: string, waitMs: number) => void
  readonly returned: (name: string, pid: number) => void
  readonly failedToStart: (name: string, error: unknown, waitMs: number) => void
}

/** Wait before the next start after `failures` ends in a row: doubles from 250 ms up to 30 s. */
export const waitBeforeStartMs = (failures: number): number =>
  Math.min(longestWaitMs, shortestWaitMs * 2 ** Math.min(failures, 16))

type Supervision = {
  readonly name: string
  /** Resolves once the part is up; throws within its own bound, and leaves nothing behind then. */
  readonly start: () => Promise<Running>
  readonly stop: (child: Child, graceMs: number) => Promise<void>
  readonly events: PartEvents
  /** Runs after each later start, before the part counts as back. */
  readonly onReturn: () => Promise<void>
}

/** Starts a part and keeps it running. The first start's error is thrown; later ones are repeated with back-off until `stop`. */
export const supervise = async (of: Supervision): Promise<Part> => {
  let running = await of.start()
  const stopping = new AbortController()

  const startAgain = async (failuresBefore: number): Promise<number> => {
    let failures = failuresBefore
    for (;;) {
      const waitMs = waitBeforeStartMs(failures)
      if (failures === failuresBefore) of.events.died(of.name, await running.child.exited, waitMs)
      await sleep(waitMs, undefined, { signal: stopping.signal })
      failures += 1
      try {
        running = await of.start()
        return failures
      } catch (error) {
        of.events.failedToStart(of.name, error, waitBeforeStartMs(failures))
      }
    }
  }

  const watch = async () => {
    let failures = 0
    while (!stopping.signal.aborted) {
      const since = performance.now()
      await running.child.exited
      if (stopping.signal.aborted) return
      if (performance.now() - since > healthyMs) failures = 0
      failures = await startAgain(failures)
      if (stopping.signal.aborted) return of.stop(running.child, 0)
      await of.onReturn()
      of.events.returned(of.name, running.child.pid)
    }
  }
  // Ends by an abort of its sleep, or by itself once `stopping` is aborted.
  const watching = watch().catch(() => undefined)

  return {
    name: of.name,
    current: () => running,
    stop: async (graceMs) => {
      stopping.abort()
      await of.stop(running.child, graceMs)
      await watching
    },
  }
}

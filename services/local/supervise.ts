import { setTimeout as sleep } from 'node:timers/promises'
import { toAppError } from '#shared/errors/app-error.ts'
import { backOffMs } from '#shared/policy/back-off.ts'
import { type Child, stopChild } from './child.ts'

const backOff = { firstMs: 250, lastMs: 30_000 }
/** A part that has lived this long was healthy: the next wait is the shortest again. */
const healthyMs = 30_000

/** A part of the system that is up: its process, and the addresses that it announced. */
export type Running = { readonly child: Child; readonly addresses: Readonly<Record<string, string>> }

/** How to start one part of the system, and how to end it. */
export type PartPlan = {
  readonly name: string
  /** Resolves once the part is up. Throws within a bound of its own, or when `signal` aborts, and leaves nothing behind then. */
  readonly start: (signal: AbortSignal) => Promise<Running>
  /** What asks the process to end in good order. */
  readonly stopSignal: NodeJS.Signals
  /** How long it may take for that; SIGKILL afterwards. */
  readonly stopMs: number
  /** Resolves with the reason once the part is up and no longer responds; it is killed then. Rejects when `signal` aborts. */
  readonly untilUnresponsive?: (running: Running, signal: AbortSignal) => Promise<string>
}

/** A part that is started again whenever it ends. */
export type Part = Awaited<ReturnType<typeof supervise>>

/** Who wants to know of a part's life. */
export type PartWatcher = {
  /** The part is down, and is started again after `waitMs`. */
  readonly down: (name: string, why: string, waitMs: number) => void
  /** The part is up again as another process. */
  readonly back: (name: string, pid: number) => Promise<void>
}

/** Resolves once the process has ended, with how; kills one that no longer responds, unless it is being stopped. */
const endOf = async (running: Running, { untilUnresponsive }: PartPlan, stopping: AbortSignal): Promise<string> => {
  const { child } = running
  const ended = new AbortController()
  const signal = AbortSignal.any([ended.signal, stopping])
  const unresponsive = untilUnresponsive?.(running, signal).catch(() => child.exited)
  const how = await Promise.race([child.exited, unresponsive ?? child.exited])
  ended.abort()
  // A blocked event loop handles no other signal.
  if (!child.hasExited()) child.kill('SIGKILL')
  await child.exited
  return how
}

/** Starts a part and keeps it running. The first start's error is thrown; later ones are repeated with back-off until `stop`. */
export const supervise = async (plan: PartPlan, signal: AbortSignal, watcher: PartWatcher) => {
  let running = await plan.start(signal)
  const stopping = new AbortController()

  /** Answers how often it had to try; throws when the part is being stopped. */
  const startAgain = async (firstCause: string, failuresBefore: number): Promise<number> => {
    let why = firstCause
    for (let failures = failuresBefore; ; failures += 1) {
      const waitMs = backOffMs(backOff, failures)
      stopping.signal.throwIfAborted()
      watcher.down(plan.name, why, waitMs)
      await sleep(waitMs, undefined, { signal: stopping.signal })
      try {
        running = await plan.start(stopping.signal)
        if (stopping.signal.aborted) await stopChild(running.child, plan.stopSignal, plan.stopMs)
        return failures + 1
      } catch (error) {
        why = toAppError(error).message
      }
    }
  }

  const watch = async (): Promise<never> => {
    for (let failures = 0; ;) {
      const since = performance.now()
      const how = await endOf(running, plan, stopping.signal)
      failures = await startAgain(how, performance.now() - since > healthyMs ? 0 : failures)
      await watcher.back(plan.name, running.child.pid)
    }
  }
  const watching = watch().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error
  })

  return {
    name: plan.name,
    /** The process that runs now, or the last one that did. */
    current: (): Running => running,
    /** Ends the part for good, within the bound of its plan. */
    stop: async (): Promise<void> => {
      stopping.abort()
      await stopChild(running.child, plan.stopSignal, plan.stopMs)
      await watching
    },
  }
}

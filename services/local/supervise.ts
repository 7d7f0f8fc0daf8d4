import { setTimeout as delay } from 'node:timers/promises'
import { toAppError } from '#shared/errors/app-error.ts'
import { backOffMs } from '#shared/policy/back-off.ts'
import { type Child, stopChild } from './child.ts'

const backOff = { firstMs: 250, lastMs: 10_000 }
/** After this uptime the back-off is reset. */
const healthyMs = 30_000

/** A started part: its process and the addresses that it announced. */
export type Running = { readonly child: Child; readonly addresses: Readonly<Record<string, string>> }

/** How to start and stop one part of the system. */
export type PartPlan = {
  readonly name: string
  /** Resolves once the part is up. Throws on its own timeout or when `signal` aborts, and leaves no process then. */
  readonly start: (signal: AbortSignal) => Promise<Running>
  /** The signal for a graceful stop. */
  readonly stopSignal: NodeJS.Signals
  /** Timeout of the graceful stop; SIGKILL afterwards. */
  readonly stopMs: number
  /** Resolves with the reason when the part stops responding, which kills it. Rejects when `signal` aborts. */
  readonly untilUnresponsive?: (running: Running, signal: AbortSignal) => Promise<string>
}

/** A supervised part, which is restarted whenever it ends. */
export type Part = Awaited<ReturnType<typeof supervise>>

/** Callbacks of `supervise`. */
export type PartWatcher = {
  /** The part is down and will be restarted after `waitMs`. */
  readonly down: (name: string, reason: string, waitMs: number) => void
  /** The part was restarted as process `pid`. */
  readonly back: (name: string, pid: number) => Promise<void>
}

/** Resolves with the reason when the process has ended; kills a process that stops responding, unless it is being stopped. */
const awaitEnd = async (running: Running, { untilUnresponsive }: PartPlan, stopping: AbortSignal): Promise<string> => {
  const { child } = running
  const ended = new AbortController()
  const signal = AbortSignal.any([ended.signal, stopping])
  const unresponsive = untilUnresponsive?.(running, signal).catch(() => child.exited)
  const reason = await Promise.race([child.exited, unresponsive ?? child.exited])
  ended.abort()
  // A blocked event loop handles no signal that can be caught.
  if (!child.hasExited()) child.kill('SIGKILL')
  await child.exited
  return reason
}

/** Starts a part and restarts it whenever it ends. Throws if the first start fails; retries later starts with back-off until `stop`. */
export const supervise = async (plan: PartPlan, signal: AbortSignal, watcher: PartWatcher) => {
  let running = await plan.start(signal)
  const stopping = new AbortController()

  /** Returns the number of consecutive failures, this end included; throws when the part is being stopped. */
  const restart = async (firstCause: string, failuresBefore: number): Promise<number> => {
    let reason = firstCause
    for (let failures = failuresBefore; ; failures += 1) {
      const waitMs = backOffMs(backOff, failures)
      stopping.signal.throwIfAborted()
      watcher.down(plan.name, reason, waitMs)
      await delay(waitMs, undefined, { signal: stopping.signal })
      try {
        running = await plan.start(stopping.signal)
        if (stopping.signal.aborted) await stopChild(running.child, plan.stopSignal, plan.stopMs)
        return failures + 1
      } catch (error) {
        reason = toAppError(error).message
      }
    }
  }

  const watch = async (): Promise<never> => {
    for (let failures = 0; ;) {
      const since = performance.now()
      const reason = await awaitEnd(running, plan, stopping.signal)
      failures = await restart(reason, performance.now() - since > healthyMs ? 0 : failures)
      await watcher.back(plan.name, running.child.pid)
    }
  }
  const watching = watch().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error
  })

  return {
    name: plan.name,
    /** The current process, or the last one during a restart. */
    current: (): Running => running,
    /** Stops the part permanently, within `stopMs`. */
    stop: async (): Promise<void> => {
      stopping.abort()
      await stopChild(running.child, plan.stopSignal, plan.stopMs)
      await watching
    },
  }
}

import { randomBytes } from 'node:crypto'
import { prefix } from '#shared/config/read-env.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'
import { within } from '#shared/process/within.ts'
import { startWorkerProcess, type WorkerProcess, type WorkerProcessEvents } from './worker-process.ts'

/** Environment variable with the worker's name. */
const podVariable = prefix + workerSettings.pod.name
/** Longest wait for killed processes to end, which only the kernel can delay. */
const reapMs = 5000

/** How local worker processes are run. */
export type ProcessPoolOptions = {
  /** Module that a worker process runs. */
  readonly entry: string
  /** The whole environment of a worker, except its name. */
  readonly env: Readonly<Record<string, string>>
  /** Milliseconds from SIGTERM to SIGKILL: longer than any running capture takes to end. */
  readonly killAfterMs: number
}

/**
 * Creates an empty pool of workers that are child processes of this one. Dispose terminates all and waits, at most
 * `killAfterMs` and the time to reap.
 */
export const createProcessPool = (options: ProcessPoolOptions, events: WorkerProcessEvents) => {
  const { entry, env, killAfterMs } = options
  const running = new Map<string, WorkerProcess>()
  let sequence = 0

  const ended: WorkerProcessEvents['ended'] = (worker, end) => {
    running.delete(worker.pod)
    events.ended(worker, end)
  }

  return {
    running: (): readonly WorkerProcess[] => [...running.values()],
    /** Starts one, under a name that begins with `kind`. */
    start: (kind: 'worker' | 'job'): WorkerProcess => {
      sequence += 1
      const pod = `${kind}-${sequence}-${randomBytes(4).toString('hex')}`
      const launch = { pod, entry, env: { ...env, [podVariable]: pod } }
      const worker = startWorkerProcess(launch, { ready: events.ready, ended })
      running.set(pod, worker)
      return worker
    },
    /** Terminates one, and kills it after `killAfterMs`. */
    stop: (pod: string): void => running.get(pod)?.stop(killAfterMs),
    [Symbol.asyncDispose]: async (): Promise<void> => {
      const all = [...running.values()]
      for (const worker of all) worker.stop(killAfterMs)
      const allEnded = Promise.all(all.map((worker) => worker.ended))
      await within(allEnded, killAfterMs + reapMs, () => new Error('not all have ended')).catch(() => {})
    },
  }
}

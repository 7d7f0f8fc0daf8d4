import { randomBytes } from 'node:crypto'
import { prefix } from '#shared/config/read-env.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'
import type { Actuator, WorkerNotice } from './actuator.ts'
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts'

/** Variable that tells a worker its name. */
const podVariable = prefix + workerSettings.pod.name
/** Weight of the newest start in the mean. */
const newestWeight = 0.3
/** Wait for the end of killed processes, which nothing but the kernel can delay. */
const reapMs = 5000

/** How the workers of this machine are run. */
export type LocalProcessesOptions = {
  /** Module that a worker's process runs. */
  readonly entry: string
  /** The whole environment of a worker, but for its name. */
  readonly env: Readonly<Record<string, string>>
  /** Milliseconds from SIGTERM to SIGKILL: longer than any running capture takes to end. */
  readonly killAfterMs: number
  readonly notice: (notice: WorkerNotice) => void
}

const settledWithin = async (all: readonly Promise<void>[], limitMs: number) => {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, limitMs)
  await Promise.race([Promise.all(all), late])
  clearTimeout(timer)
}

/** Runs workers as child processes. Dispose tells all of them to end and waits, at most `killAfterMs` and the time to reap. */
export const createLocalProcesses = (options: LocalProcessesOptions): Actuator => {
  const running = new Map<string, WorkerProcess>()
  let starts = { ready: 0, failed: 0 }
  let startMs: number | undefined
  let turn = 0

  const onReady = (worker: WorkerProcess) => {
    const ageMs = worker.ageMs()
    starts = { ...starts, ready: starts.ready + 1 }
    startMs = startMs === undefined ? ageMs : startMs + newestWeight * (ageMs - startMs)
    options.notice({ kind: 'ready', pod: worker.pod, ageMs })
  }

  const onEnd = (worker: WorkerProcess, how: string) => {
    running.delete(worker.pod)
    if (!worker.isReady()) starts = { ...starts, failed: starts.failed + 1 }
    options.notice({ kind: 'ended', pod: worker.pod, ageMs: worker.ageMs(), how, asked: worker.isStopping() })
  }

  const startOne = () => {
    turn += 1
    const pod = `worker-${turn}-${randomBytes(4).toString('hex')}`
    const launch = { pod, entry: options.entry, env: { ...options.env, [podVariable]: pod } }
    running.set(pod, startWorkerProcess(launch, { ready: onReady, ended: onEnd }))
    options.notice({ kind: 'started', pod, ageMs: 0 })
  }

  return {
    list: async () => ({
      workers: [...running.values()].map((worker) => ({
        pod: worker.pod,
        ageMs: worker.ageMs(),
        stopping: worker.isStopping(),
      })),
      starts,
      startMs,
    }),
    start: async (total) => {
      const present = [...running.values()].filter((worker) => !worker.isStopping()).length
      for (let count = present; count < total; count += 1) startOne()
    },
    stop: async (pods) => {
      for (const pod of pods) running.get(pod)?.stop(options.killAfterMs)
    },
    [Symbol.asyncDispose]: async () => {
      const all = [...running.values()]
      for (const worker of all) worker.stop(options.killAfterMs)
      await settledWithin(
        all.map(({ ended }) => ended),
        options.killAfterMs + reapMs,
      )
    },
  }
}

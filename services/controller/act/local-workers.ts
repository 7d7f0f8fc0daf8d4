import type { Actuator, WorkerNotice } from './actuator.ts'
import { createStartLatency } from '#controller/decide/start-latency.ts'
import { createWorkerProcesses, type WorkerProcessOptions } from './worker-processes.ts'

type LocalWorkersOptions = WorkerProcessOptions & { readonly notice: (notice: WorkerNotice) => void }

/** Runs workers as child processes. Dispose terminates all and waits, at most `killAfterMs` and the time to reap. */
export const createLocalWorkers = (options: LocalWorkersOptions): Actuator & AsyncDisposable => {
  let starts = { ready: 0, failed: 0 }
  const latency = createStartLatency()

  const processes = createWorkerProcesses(options, {
    ready: (worker) => {
      const ageMs = worker.ageMs()
      starts = { ...starts, ready: starts.ready + 1 }
      latency.add(ageMs)
      options.notice({ kind: 'ready', pod: worker.pod, ageMs })
    },
    ended: (worker, { how }) => {
      if (!worker.isReady()) starts = { ...starts, failed: starts.failed + 1 }
      options.notice({ kind: 'ended', pod: worker.pod, ageMs: worker.ageMs(), how, isExpected: worker.isStopping() })
    },
  })

  const stop = async (pods: readonly string[]) => {
    for (const pod of pods) processes.stop(pod)
  }

  return {
    list: async () => ({
      workers: processes.running().map((worker) => ({
        pod: worker.pod,
        ageMs: worker.ageMs(),
        stopping: worker.isStopping(),
      })),
      starts,
      startMs: latency.p90(),
    }),
    start: async (total) => {
      const present = processes.running().filter((worker) => !worker.isStopping()).length
      for (let count = present; count < total; count += 1) {
        const { pod } = processes.start('worker')
        options.notice({ kind: 'started', pod, ageMs: 0 })
      }
    },
    stop,
    // The controller's next tick starts the replacements.
    replace: stop,
    // Processes are never marked for removal.
    keep: async () => {},
    [Symbol.asyncDispose]: () => processes[Symbol.asyncDispose](),
  }
}

import { createWorkerProcesses, type WorkerProcessOptions } from '#controller/act/worker-processes.ts'
import type { JobNotice, JobRunner } from './job-runner.ts'
import type { JobTrouble } from './proxied.ts'

type LocalJobsOptions = WorkerProcessOptions & {
  /** Longest lifetime of a worker in milliseconds: longer than it waits for its capture and then serves it. */
  readonly lifeMs: number
  readonly notice: (notice: JobNotice) => void
}

/** All processes have the same revision. */
const revision = ''

/**
 * Runs single-use workers as child processes instead of Jobs. Dispose terminates all and waits, at most
 * `killAfterMs` and the time to reap.
 */
export const createLocalJobs = (options: LocalJobsOptions): JobRunner & AsyncDisposable => {
  const { lifeMs, notice } = options
  const claims = new Map<string, string>()
  const lifeTimers = new Map<string, NodeJS.Timeout>()
  let failed = 0
  let last: JobTrouble | undefined

  const processes = createWorkerProcesses(options, {
    ready: () => {},
    ended: ({ pod, isStopping }, { how, isClean }) => {
      clearTimeout(lifeTimers.get(pod))
      lifeTimers.delete(pod)
      notice({ kind: 'ended', job: pod, how: isClean ? 'succeeded' : 'failed' })
      if (claims.delete(pod) || isClean || isStopping()) return
      failed += 1
      last = { reason: 'crash-looping', message: `a worker ended with ${how} before it took a capture` }
    },
  })

  return {
    list: async () => ({
      jobs: processes.running().map(({ pod, ageMs, isStopping }) => {
        const captureId = claims.get(pod)
        return {
          name: pod,
          ageMs: ageMs(),
          revision,
          ...(captureId !== undefined && { captureId }),
          ...(isStopping() && { worker: 'stopping' }),
        }
      }),
      unclaimed: [],
      failed,
      last,
    }),
    create: async (count) => {
      for (let started = 0; started < count; started += 1) {
        const { pod } = processes.start('job')
        lifeTimers.set(
          pod,
          setTimeout(() => processes.stop(pod), lifeMs),
        )
        notice({ kind: 'created', job: pod })
      }
    },
    claim: async (name, captureId) => {
      if (!lifeTimers.has(name)) return
      claims.set(name, captureId)
      notice({ kind: 'claimed', job: name })
    },
    giveUp: async (name) => {
      processes.stop(name)
      notice({ kind: 'given-up', job: name })
    },
    [Symbol.asyncDispose]: () => processes[Symbol.asyncDispose](),
  }
}

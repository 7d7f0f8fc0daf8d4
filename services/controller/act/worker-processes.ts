import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { prefix } from '#shared/config/read-env.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'
import { killGroup } from '#shared/process/kill-group.ts'
import { within } from '#shared/process/within.ts'

/** Environment variable with the worker's name. */
const podVariable = prefix + workerSettings.pod.name
/** Longest wait for killed processes to end, which only the kernel can delay. */
const reapMs = 5000

/** How worker processes are run. */
export type WorkerProcessOptions = {
  /** Module that a worker process runs. */
  readonly entry: string
  /** The whole environment of a worker, except its name. */
  readonly env: Readonly<Record<string, string>>
  /** Milliseconds from SIGTERM to SIGKILL: longer than any running capture takes to end. */
  readonly killAfterMs: number
}

/** A worker's process. */
type WorkerProcess = {
  readonly pod: string
  readonly ageMs: () => number
  readonly isReady: () => boolean
  readonly isStopping: () => boolean
  /** Resolves once it has ended. */
  readonly ended: Promise<void>
  /** SIGTERM now, which lets running captures finish; SIGKILL for it and its browsers after `killAfterMs`. Idempotent. */
  readonly stop: () => void
}

/** Each called at most once for a process. */
type WorkerProcessEvents = {
  readonly ready: (worker: WorkerProcess) => void
  readonly ended: (worker: WorkerProcess, end: { readonly how: string; readonly isClean: boolean }) => void
}

/**
 * Starts a worker as a child of this process. It has its own process group, so that a terminal's Ctrl-C reaches it only
 * through this process, and an IPC channel: its first message means ready, and it ends when this process does.
 */
const startWorkerProcess = (
  pod: string,
  { entry, env, killAfterMs }: WorkerProcessOptions,
  events: WorkerProcessEvents,
): WorkerProcess => {
  const startedMs = performance.now()
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  let isReady = false
  let hasEnded = false
  let killTimer: NodeJS.Timeout | undefined

  const child = spawn(process.execPath, [entry], {
    cwd: '/',
    env: { ...env, [podVariable]: pod },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  })
  /** Kills its browsers too. */
  const kill = () => {
    if (child.pid !== undefined) killGroup(child.pid)
  }
  const worker: WorkerProcess = {
    pod,
    ageMs: () => performance.now() - startedMs,
    isReady: () => isReady,
    isStopping: () => killTimer !== undefined,
    ended,
    stop: () => {
      // A second SIGTERM would end it at once.
      if (killTimer !== undefined || hasEnded) return
      killTimer = setTimeout(kill, killAfterMs)
      child.kill('SIGTERM')
    },
  }
  const onEnd = (how: string, isClean = false) => {
    if (hasEnded) return
    hasEnded = true
    clearTimeout(killTimer)
    kill()
    events.ended(worker, { how, isClean })
    resolve()
  }
  child.once('message', () => {
    isReady = true
    events.ready(worker)
  })
  child.once('exit', (code, signal) => onEnd(signal === null ? `exit code ${code}` : `signal ${signal}`, code === 0))
  child.once('error', (error) => onEnd(error.message))
  return worker
}

/** Runs workers as child processes; none at first. Dispose terminates all and waits, at most `killAfterMs` and the time to reap. */
export const createWorkerProcesses = (options: WorkerProcessOptions, events: WorkerProcessEvents) => {
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
      const worker = startWorkerProcess(pod, options, { ready: events.ready, ended })
      running.set(pod, worker)
      return worker
    },
    stop: (pod: string): void => running.get(pod)?.stop(),
    [Symbol.asyncDispose]: async (): Promise<void> => {
      const all = [...running.values()]
      for (const worker of all) worker.stop()
      const allEnded = Promise.all(all.map((worker) => worker.ended))
      await within(allEnded, options.killAfterMs + reapMs, () => new Error('not all have ended')).catch(() => {})
    },
  }
}

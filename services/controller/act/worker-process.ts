import { spawn } from 'node:child_process'
import { killGroup } from '#shared/process/kill-group.ts'

/** A worker's process. `stop` is idempotent. */
export type WorkerProcess = {
  readonly pod: string
  readonly ageMs: () => number
  readonly isReady: () => boolean
  readonly isStopping: () => boolean
  /** Resolves once it has ended. */
  readonly ended: Promise<void>
  /** SIGTERM now, which lets running captures finish; SIGKILL for it and its browsers after `killAfterMs`. */
  readonly stop: (killAfterMs: number) => void
}

/** Events of a worker's process, each called at most once. */
export type WorkerProcessEvents = {
  readonly ready: (of: WorkerProcess) => void
  readonly ended: (of: WorkerProcess, end: { readonly how: string; readonly isClean: boolean }) => void
}

/**
 * Starts a worker as a child of this process. It has its own process group, so that a terminal's Ctrl-C reaches it only
 * through this process, and an IPC channel: its first message means ready, and it ends when this process does.
 */
export const startWorkerProcess = (
  launch: { pod: string; entry: string; env: Readonly<Record<string, string>> },
  events: WorkerProcessEvents,
): WorkerProcess => {
  const startedMs = performance.now()
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  let isReady = false
  let hasEnded = false
  let killTimer: NodeJS.Timeout | undefined

  const child = spawn(process.execPath, [launch.entry], {
    cwd: '/',
    env: launch.env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  })
  /** Kills its browsers too. */
  const kill = () => {
    if (child.pid !== undefined) killGroup(child.pid)
  }
  const of: WorkerProcess = {
    pod: launch.pod,
    ageMs: () => performance.now() - startedMs,
    isReady: () => isReady,
    isStopping: () => killTimer !== undefined,
    ended,
    stop: (killAfterMs) => {
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
    events.ended(of, { how, isClean })
    resolve()
  }
  child.once('message', () => {
    isReady = true
    events.ready(of)
  })
  child.once('exit', (code, signal) => onEnd(signal === null ? `exit code ${code}` : `signal ${signal}`, code === 0))
  child.once('error', (error) => onEnd(error.message))
  return of
}

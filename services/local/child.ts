import { spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { AppError } from '#shared/errors/app-error.ts'
import { diskFullAdvice } from './system-error.ts'

const logTailLines = 12

/** A process to start; its output is appended to `logPath`. */
export type Launch = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly logPath: string
  /** Working folder; by default that of this process. */
  readonly cwd?: string
  /** Opens an IPC channel, for our services: they announce themselves, then report activity, and stop when it closes. */
  readonly ipc?: { readonly active?: (() => void) | undefined }
  /** File descriptors that the child inherits as 3, 4, …; ignored with `ipc`. */
  readonly descriptors?: readonly number[]
}

/**
 * Starts a process in a new session, so that Ctrl-C signals only the parent, which stops its children in order.
 * Throws `SERVICE_UNAVAILABLE` if the process cannot be spawned.
 */
export const startChild = async (launch: Launch) => {
  await using log = await open(launch.logPath, 'a', 0o600)
  const stdio: StdioOptions = [
    'ignore',
    log.fd,
    log.fd,
    ...(launch.ipc ? ['ipc' as const] : (launch.descriptors ?? [])),
  ]
  const child = spawn(launch.command, launch.args, { cwd: launch.cwd, detached: true, env: launch.env, stdio })
  const exited = Promise.withResolvers<string>()
  const announced = Promise.withResolvers<Readonly<Record<string, string>>>()
  let ended = false
  child.once('exit', () => {
    ended = true
  })
  // Unlike `exit`, never before a message that the child sent.
  child.once('close', (code, signal) => exited.resolve(signal ? `signal ${signal}` : `exit code ${code}`))
  child.once('message', (message) => {
    announced.resolve(message as Readonly<Record<string, string>>)
    child.on('message', () => launch.ipc?.active?.())
  })
  try {
    await once(child, 'spawn')
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', {
      publicMessage: `${launch.command} cannot be started: ${String(cause)}`,
    })
  }
  return {
    pid: child.pid ?? 0,
    /** Resolves after exit, and any announcement, with the reason: `exit code 1`, `signal SIGKILL`. */
    exited: exited.promise,
    hasExited: () => ended,
    /** The first message over the IPC channel; never resolves without one. */
    announced: announced.promise,
    kill: (signal: NodeJS.Signals): void => void child.kill(signal),
  }
}

/** A process started by `startChild`. */
export type Child = Readonly<Awaited<ReturnType<typeof startChild>>>

/** Sends `signal`, and SIGKILL after `graceMs`; resolves when the child has exited. */
export const stopChild = async (child: Child, signal: NodeJS.Signals, graceMs: number): Promise<void> => {
  if (child.hasExited()) return
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
  await child.exited
  clearTimeout(timer)
}

/** A start error with the last 12 lines of the log; `what` begins the message. */
export const startError = async (what: string, logPath: string): Promise<AppError> => {
  const text = await readFile(logPath, 'utf8').catch(() => '')
  const tail = text.trimEnd().split('\n').slice(-logTailLines).join('\n')
  const isFull = /No space left on device|ENOSPC|Disk quota exceeded|EDQUOT/i.test(tail)
  const cause = isFull ? `: the disk is full; ${diskFullAdvice}` : ''
  return new AppError('SERVICE_UNAVAILABLE', { publicMessage: `${what}${cause}; ${logPath} ends with:\n${tail}` })
}

import { spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { AppError } from '#shared/errors/app-error.ts'

const logTailLines = 12

/** What to start, and where its output goes. */
export type Launch = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly logPath: string
  /** Working folder; ours where it is absent. */
  readonly cwd?: string
  /** Whether the child is one of our services: it announces itself, and stops when we are gone. */
  readonly ipc?: boolean
  /** Open file descriptors that the child has as 3, 4, … (not together with `ipc`). */
  readonly descriptors?: readonly number[]
}

/**
 * Starts a process in a session of its own: Ctrl-C in a terminal reaches us alone, so that everything stops in order.
 * Throws `SERVICE_UNAVAILABLE` where it cannot be started at all.
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
  child.once('exit', (code, signal) => {
    ended = true
    exited.resolve(signal ? `signal ${signal}` : `exit code ${code}`)
  })
  child.once('message', (message) => announced.resolve(message as Readonly<Record<string, string>>))
  try {
    await once(child, 'spawn')
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', {
      publicMessage: `${launch.command} cannot be started: ${String(cause)}`,
    })
  }
  return {
    pid: child.pid ?? 0,
    /** Resolves once it has ended, with how: `exit code 1`, `signal SIGKILL`. */
    exited: exited.promise,
    hasExited: () => ended,
    /** The first message that it sends over its IPC channel; never resolves where it has none. */
    announced: announced.promise,
    kill: (signal: NodeJS.Signals): void => void child.kill(signal),
  }
}

/** A process that we started. */
export type Child = Readonly<Awaited<ReturnType<typeof startChild>>>

/** Asks a child to end, and ends it after `graceMs` whether it agrees or not. */
export const stopChild = async (child: Child, signal: NodeJS.Signals, graceMs: number): Promise<void> => {
  if (child.hasExited()) return
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
  await child.exited
  clearTimeout(timer)
}

/** The error of a program that did not do `what` it was started for, with the end of its log. */
export const startError = async (what: string, logPath: string): Promise<AppError> => {
  const text = await readFile(logPath, 'utf8').catch(() => '')
  const tail = text.trimEnd().split('\n').slice(-logTailLines).join('\n')
  return new AppError('SERVICE_UNAVAILABLE', { publicMessage: `${what}; ${logPath} ends with:\n${tail}` })
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { AppError } from '#shared/errors/app-error.ts'
import { readPrivate, writePrivate } from './data-folder.ts'
import { isRunning, markProcess, type ProcessMark } from './process-start.ts'
import { waitUntil } from './wait-for.ts'

/** How long what a killed holder left behind gets to end by itself. */
const defaultLeftoverMs = 5000
const killMs = 5000

/** Where a lock lies: the kernel's lock is on `lockFile`, and who has it stands in `holder`. */
export type LockPaths = { readonly lockFile: string; readonly holder: string }

/** Who holds a data folder. */
export type Holder = ProcessMark & {
  /** Whether it is stopping already. */
  readonly stopping: boolean
}

type HolderFile = Holder & { readonly children: readonly ProcessMark[] }

/** The hold of one process on a data folder. Dispose gives it up; so does the process's end, however it comes. */
export type Lock = Awaited<ReturnType<typeof acquireLock>>

/** The process that holds the lock, or undefined where nobody does. */
export const lockHolder = async (paths: LockPaths): Promise<Holder | undefined> => {
  const held = await readPrivate<HolderFile>(paths.holder)
  return held && (await isRunning(held)) ? held : undefined
}

/** The lock is on the open file, which `flock` shares with us: it stays ours when `flock` has ended (flock(2)). */
const tryLock = async (file: FileHandle): Promise<boolean> => {
  const flock = spawn('flock', ['--nonblock', '3'], { stdio: ['ignore', 'ignore', 'ignore', file.fd] })
  const [code] = (await once(flock, 'exit')) as [number | null]
  return code === 0
}

/** Ends what a killed holder left behind. It stops by itself once its parent is gone; the bound is for what hangs. */
const clearLeftover = async (child: ProcessMark, leftoverMs: number) => {
  const isGone = async () => !(await isRunning(child))
  if (await waitUntil(leftoverMs, isGone)) return
  process.kill(child.pid, 'SIGKILL')
  await waitUntil(killMs, isGone)
}

const refuse = async (paths: LockPaths): Promise<never> => {
  const by = (await lockHolder(paths))?.pid ?? 'that is just starting or stopping'
  throw new AppError('CONFIGURATION', {
    publicMessage: `the data folder is in use by process ${by}; stop it with 'bin/shutterfleet down', or choose another folder with --data`,
  })
}

/**
 * Takes the lock for this process. Throws `CONFIGURATION` with the process that holds it. What a killed holder left
 * running gets `leftoverMs` to end.
 */
export const acquireLock = async (paths: LockPaths, { leftoverMs = defaultLeftoverMs } = {}) => {
  await using opened = new AsyncDisposableStack()
  const file = opened.use(await open(paths.lockFile, 'a', 0o600))
  if (!(await tryLock(file))) return await refuse(paths)
  const own = await markProcess(process.pid)
  /** Writes down whether we stop, and which processes we started: a start after a crash waits for their end. */
  const write = async ({ stopping, children }: { stopping: boolean; children: readonly number[] }) => {
    const marks = await Promise.all(children.map(markProcess))
    await writePrivate(paths.holder, { ...own, stopping, children: marks.filter((mark) => mark !== undefined) })
  }
  const former = await readPrivate<HolderFile>(paths.holder)
  await write({ stopping: false, children: [] })
  await Promise.all((former?.children ?? []).map((child) => clearLeftover(child, leftoverMs)))
  const held = opened.move()
  return {
    write,
    [Symbol.asyncDispose]: async () => {
      await rm(paths.holder, { force: true })
      await held.disposeAsync()
    },
  }
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { AppError } from '#shared/errors/app-error.ts'
import { readPrivate, writePrivate } from './data-folder.ts'
import { isRunning, markProcess, type ProcessMark } from './process-start.ts'
import { waitUntil } from './wait-for.ts'

/** How long children of a killed holder may take to exit on their own. */
const defaultLeftoverMs = 5000
const killMs = 5000

/** `lockFile` has the flock(2) lock; `holder` records the process that holds it. */
export type LockPaths = { readonly lockFile: string; readonly holder: string }

/** The process that holds a data folder. */
export type Holder = ProcessMark & {
  /** Whether it has begun to stop. */
  readonly stopping: boolean
}

type HolderFile = Holder & { readonly children: readonly ProcessMark[] }

/** A process's lock on a data folder. Released by disposal, or by the kernel when the process ends. */
export type Lock = Awaited<ReturnType<typeof acquireLock>>

/** The process that holds the lock; undefined if none does. */
export const lockHolder = async (paths: LockPaths): Promise<Holder | undefined> => {
  const held = await readPrivate<HolderFile>(paths.holder)
  return held && (await isRunning(held)) ? held : undefined
}

/** The lock belongs to the open file description, which flock(1) shares with us: we keep it after flock(1) exits (flock(2)). */
const tryLock = async (file: FileHandle): Promise<boolean> => {
  const flock = spawn('flock', ['--nonblock', '3'], { stdio: ['ignore', 'ignore', 'ignore', file.fd] })
  const [code] = (await once(flock, 'exit')) as [number | null]
  return code === 0
}

/** Waits for a child of a killed holder, which stops without its parent; kills it after `leftoverMs`. */
const endLeftover = async (child: ProcessMark, leftoverMs: number) => {
  const isGone = async () => !(await isRunning(child))
  if (await waitUntil(leftoverMs, isGone)) return
  process.kill(child.pid, 'SIGKILL')
  await waitUntil(killMs, isGone)
}

const refuse = async (paths: LockPaths): Promise<never> => {
  const by = (await lockHolder(paths))?.pid ?? 'that is starting or stopping'
  throw new AppError('CONFIGURATION', {
    publicMessage: `the data folder is in use by process ${by}; stop it with 'bin/shutterfleet down', or choose another folder with --data`,
  })
}

/**
 * Takes the lock for this process. Throws `CONFIGURATION` that names the process that holds it. Kills children of a killed
 * holder after `leftoverMs`.
 */
export const acquireLock = async (paths: LockPaths, { leftoverMs = defaultLeftoverMs } = {}) => {
  await using opened = new AsyncDisposableStack()
  const file = opened.use(await open(paths.lockFile, 'a', 0o600))
  if (!(await tryLock(file))) return await refuse(paths)
  const own = await markProcess(process.pid)
  /** Records whether we are stopping and our child processes: a start after a crash waits for their end. */
  const write = async ({ stopping, children }: { stopping: boolean; children: readonly number[] }) => {
    const marks = await Promise.all(children.map(markProcess))
    await writePrivate(paths.holder, { ...own, stopping, children: marks.filter((mark) => mark !== undefined) })
  }
  const former = await readPrivate<HolderFile>(paths.holder)
  await write({ stopping: false, children: [] })
  await Promise.all((former?.children ?? []).map((child) => endLeftover(child, leftoverMs)))
  const held = opened.move()
  return {
    write,
    [Symbol.asyncDispose]: async () => {
      await rm(paths.holder, { force: true })
      await held.disposeAsync()
    },
  }
}

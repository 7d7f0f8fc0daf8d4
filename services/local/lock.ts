import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { AppError } from '#shared/errors/app-error.ts'
import { isRunning, markProcess, type ProcessMark } from './process-start.ts'
import { waitUntil } from './wait-for.ts'

/** How long what a crashed start left behind gets to end by itself. */
const leftoverMs = 10_000
const attemptsMax = 5

type LockFile = ProcessMark & { readonly children: readonly ProcessMark[] }

/** The hold of one process on a data folder. Dispose gives it up. */
export type Lock = AsyncDisposable & {
  /** Writes down which processes were started, so that a start after a crash can wait for their end. */
  readonly setChildren: (pids: readonly number[]) => Promise<void>
}

const read = async (path: string): Promise<LockFile | undefined> => {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as LockFile
  } catch {
    return undefined
  }
}

/** The process that holds the lock at `path`, or undefined where nobody does. */
export const lockHolder = async (path: string): Promise<ProcessMark | undefined> => {
  const held = await read(path)
  return held && (await isRunning(held)) ? held : undefined
}

/** Ends what an owner that was killed left behind. They stop by themselves once their parent is gone; the bound is for those that hang. */
const clearLeftovers = async (children: readonly ProcessMark[]) => {
  for (const child of children) {
    if (await waitUntil(leftoverMs, async () => !(await isRunning(child)))) continue
    process.kill(child.pid, 'SIGKILL')
    await waitUntil(leftoverMs, async () => !(await isRunning(child)))
  }
}

/** Takes a stale lock away. Another process may have renewed it since `stale` was read: then it goes back to its place. */
const breakLock = async (path: string, stale: LockFile) => {
  const aside = `${path}.${process.pid}.stale`
  await rename(path, aside).catch(() => undefined)
  const taken = await read(aside)
  const isAnothers = taken && (taken.pid !== stale.pid || taken.startTicks !== stale.startTicks)
  if (isAnothers) await link(aside, path).catch(() => undefined)
  await rm(aside, { force: true })
  if (!isAnothers) await clearLeftovers(stale.children)
}

const tryCreate = async (path: string, content: LockFile): Promise<boolean> => {
  const draft = `${path}.${process.pid}.new`
  await writeFile(draft, JSON.stringify(content), { mode: 0o600 })
  try {
    await link(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/** Takes the lock at `path` for this process. Throws `CONFIGURATION` with the process id of whoever holds it. */
export const acquireLock = async (path: string): Promise<Lock> => {
  const own = await markProcess(process.pid)
  if (!own) throw new Error('this process is not in /proc')
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    if (await tryCreate(path, { ...own, children: [] })) {
      return {
        setChildren: async (pids) => {
          const marks = await Promise.all(pids.map(markProcess))
          const children = marks.filter((mark) => mark !== undefined)
          await writeFile(`${path}.new`, JSON.stringify({ ...own, children }), { mode: 0o600 })
          await rename(`${path}.new`, path)
        },
        [Symbol.asyncDispose]: () => rm(path, { force: true }),
      }
    }
    const held = await read(path)
    if (held && (await isRunning(held))) {
      throw new AppError('CONFIGURATION', {
        publicMessage: `the data folder is in use by process ${held.pid}; stop it with 'bin/shutterfleet down' or choose another folder with --data`,
      })
    }
    if (held) await breakLock(path, held)
    // A lock file that cannot be read is not one of ours: it is written whole before it appears under its name.
    else await rm(path, { force: true })
  }
  throw new AppError('CONFIGURATION', { publicMessage: `the lock ${path} changes hands all the time; try again` })
}

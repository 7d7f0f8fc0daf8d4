import { constants } from 'node:fs'
import { access, chmod, mkdir, readFile, rename, stat, statfs, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { AppError } from '#shared/errors/app-error.ts'
import { diskFullAdvice, isDiskFull, systemReason } from './system-error.ts'

/** PostgreSQL does not survive with less. */
const freeMiBMin = 64

/** The absolute paths in a data folder, which need not exist. */
export const dataPaths = (folder: string) => {
  const path = resolve(folder)
  return {
    path,
    lockFile: join(path, 'lock'),
    holder: join(path, 'holder.json'),
    secrets: join(path, 'secrets.json'),
    ports: join(path, 'ports.json'),
    /** The first account and its key. */
    account: join(path, 'account.json'),
    /** State of `up` for other commands; see `LocalFile`. */
    localFile: join(path, 'local.json'),
    workerEnv: join(path, 'worker-env.json'),
    stealthWorkerEnv: join(path, 'stealth-worker-env.json'),
    proxiedWorkerEnv: join(path, 'proxied-worker-env.json'),
    postgres: join(path, 'postgres'),
    nats: join(path, 'nats'),
    objects: join(path, 'objects'),
    logs: join(path, 'logs'),
  }
}

/** The paths of a one-machine installation. */
export type DataFolder = Readonly<ReturnType<typeof dataPaths>>

const refuse = (path: string, reason: string): never => {
  throw new AppError('CONFIGURATION', {
    publicMessage: `the data folder ${path} ${reason}; choose another with --data`,
  })
}

const refuseFull = (path: string, fact: string): never => {
  throw new AppError('CONFIGURATION', {
    publicMessage: `the disk of the data folder ${path} ${fact}: ${diskFullAdvice}`,
  })
}

/** Fails before anything is written if the disk is almost full. */
const checkFreeSpace = async (path: string): Promise<void> => {
  const { bavail, bsize } = await statfs(path)
  const freeMiB = Math.floor((bavail * bsize) / 1024 ** 2)
  if (freeMiB < freeMiBMin) refuseFull(path, `has ${freeMiB} MiB left, and at least ${freeMiBMin} MiB are needed`)
}

/** Creates a folder and its parents. `mkdir` with `recursive` never returns below `/proc` (Node 24). */
const makeFolder = async (path: string): Promise<void> => {
  const make = () => mkdir(path, { mode: 0o700 })
  await make().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST' && (await stat(path)).isDirectory()) return
    if (error.code !== 'ENOENT' || dirname(path) === path) throw error
    await makeFolder(dirname(path))
    await make()
  })
}

/** Creates the data folder if it is missing, with mode 0700. Throws `CONFIGURATION` if it cannot be used. */
export const openDataFolder = async (folder: string): Promise<DataFolder> => {
  const paths = dataPaths(folder)
  try {
    await makeFolder(paths.path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (isDiskFull(error)) return refuseFull(paths.path, 'is full')
    const isFile = code === 'EEXIST' || code === 'ENOTDIR'
    return refuse(paths.path, isFile ? 'is not a folder' : `cannot be made (${systemReason(code)})`)
  }
  const { uid } = await stat(paths.path)
  const me = process.getuid?.()
  if (me !== 0 && uid !== me) refuse(paths.path, `belongs to another user (id ${uid}): run this as that user`)
  await chmod(paths.path, 0o700).catch(() => refuse(paths.path, 'cannot be restricted to its owner'))
  await access(paths.path, constants.W_OK | constants.X_OK).catch(() => refuse(paths.path, 'is not writable'))
  await checkFreeSpace(paths.path)
  for (const part of [paths.nats, paths.objects, paths.logs]) await makeFolder(part)
  return paths
}

/** Writes a JSON file atomically, with mode 0600. Throws `CONFIGURATION` if it cannot be written. */
export const writePrivate = async (path: string, content: unknown): Promise<void> => {
  const draft = `${path}.${process.pid}.new`
  try {
    await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
    await rename(draft, path)
  } catch (error) {
    if (isDiskFull(error)) refuseFull(dirname(path), 'is full')
    const reason = systemReason((error as NodeJS.ErrnoException).code)
    throw new AppError('CONFIGURATION', { publicMessage: `${path} cannot be written (${reason})`, cause: error })
  }
}

/** Reads a file of `writePrivate`; undefined if there is none. Throws `CONFIGURATION` if it cannot be read or parsed. */
export const readPrivate = async <T>(path: string): Promise<T | undefined> => {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    const { code, message } = error as NodeJS.ErrnoException
    const isForeign = code === 'EACCES' || code === 'EPERM'
    const reason = isForeign
      ? `it belongs to another user, ${code}: run this as the user that started it, or name your own folder with --data`
      : message
    throw new AppError('CONFIGURATION', { publicMessage: `${path} cannot be read: ${reason}` })
  }
}

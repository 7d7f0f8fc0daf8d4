import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto'
import { link, mkdir, open, readdir, rm, rmdir, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { createWriteStream } from 'node:fs'
import { AppError } from '#shared/errors/app-error.ts'
import type { ObjectStore } from './object-store.ts'
import { isObjectKey } from './objects.ts'

/** An upload in progress: bytes go to `sink`; nothing is visible under the key before `commit`. */
type Upload = {
  readonly sink: Writable
  /** Stores the bytes under the key, synced to the disk. Returns false, and drops them, if the key exists already. */
  readonly commit: () => Promise<boolean>
  readonly abandon: () => Promise<void>
}

/** The files driver: the store, and the methods with which the gateway serves the addresses that the store signs. */
export type FilesStore = ObjectStore & {
  /** Whether `signature` was made by `signPut` for this key and expiry, and has not expired. */
  readonly mayPut: (key: string, query: { expires: string; signature: string }) => boolean
  readonly beginUpload: (key: string) => Promise<Upload>
}

type FilesOptions = {
  folder: string
  filesUrl: string
  signingKey: string
  now: () => Date
  /** Flushes a file or a folder to the disk. */
  sync?: (path: string) => Promise<void>
}

/** Bytes read at a time; every slow reader buffers a few chunks. */
const chunkBytes = 32 * 1024
/** Bytes of an upload that are buffered during a write, and then written together. */
const uploadBytes = 1024 * 1024

/** Below the store's folder; uploads are written here and linked to their key once complete. */
const uploadsFolder = 'uploads'
/** Age at which uploads left by a killed process are removed; no upload takes that long. */
const leftoverMs = 3_600_000
const leftoverCheckMs = 600_000
const linkTries = 3

const missing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

const removeOld = async (folder: string, beforeMs: number): Promise<void> => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    // Another process may have removed it.
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }))
    if (mtimeMs < beforeMs) await rm(path, { force: true })
  }
}

const syncPath = async (path: string): Promise<void> => {
  await using opened = await open(path)
  await opened.datasync()
}

/** The store's folder and those of a key in it: another upload may have created any of them and not synced it yet. */
const listFolders = (folder: string, key: string): string[] =>
  key.split('/').map((_, depth, parts) => join(folder, ...parts.slice(0, depth)))

/** Links a file to its path; retries because deleting the last object of a folder removes the folder. */
const linkTo = async (file: string, path: string): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    await mkdir(dirname(path), { recursive: true })
    try {
      await link(file, path)
      return
    } catch (error) {
      if (!missing(error) || tries === linkTries) throw error
    }
  }
}

/** Removes a file, and the folders of its capture and its hour if they are empty then. */
const removeWithFolders = async (path: string): Promise<void> => {
  await rm(path, { force: true })
  const folder = dirname(path)
  // Fails for a folder that is not empty; then the one above is kept too.
  await rmdir(folder)
    .then(() => rmdir(dirname(folder)))
    .catch(() => {})
}

const fail = (cause: unknown): never => {
  throw new AppError('SERVICE_UNAVAILABLE', { message: `object store: ${String(cause)}`, cause })
}

/** Which keys to list: those that begin with `prefix` and sort after `after`. */
type KeyRange = { readonly prefix: string; readonly after: string }

/** Whether keys to list may begin with `start`. */
const mayContain = (start: string, { prefix, after }: KeyRange): boolean =>
  (start.startsWith(prefix) || prefix.startsWith(start)) && start >= after.slice(0, start.length)

async function* walk(folder: string, start: string, range: KeyRange): AsyncIterable<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (missing(error)) return []
    return fail(error)
  })
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const key = start + entry.name
    if (entry.isDirectory() && mayContain(`${key}/`, range)) yield* walk(join(folder, entry.name), `${key}/`, range)
    else if (isObjectKey(key) && key.startsWith(range.prefix) && key > range.after) yield key
  }
}

/** Creates uploads below the store's folder; removes what killed processes left, at most every ten minutes. */
const createUploads = ({ folder, now, sync = syncPath }: Pick<FilesOptions, 'folder' | 'now' | 'sync'>) => {
  const uploads = join(folder, uploadsFolder)
  let checkedMs = 0
  const removeLeftovers = () => {
    const nowMs = now().getTime()
    if (nowMs - checkedMs < leftoverCheckMs) return
    checkedMs = nowMs
    void removeOld(uploads, nowMs - leftoverMs).catch(() => {})
  }

  return async (key: string): Promise<Upload> => {
    const partial = join(uploads, `${randomBytes(16).toString('hex')}.part`)
    await mkdir(uploads, { recursive: true })
    removeLeftovers()
    return {
      sink: createWriteStream(partial, { flags: 'wx', mode: 0o600, highWaterMark: uploadBytes }),
      commit: async () => {
        try {
          await sync(partial)
          await linkTo(partial, join(folder, key))
          await Promise.all(listFolders(folder, key).map(sync))
          return true
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
          return fail(error)
        } finally {
          await unlink(partial)
        }
      },
      abandon: () => rm(partial, { force: true }),
    }
  }
}

/** Keeps objects as files below `folder`. An uploaded object appears under its key whole or not at all, and is never overwritten. */
export const createFilesStore = (options: FilesOptions): FilesStore => {
  const toPath = (key: string) => {
    if (!isObjectKey(key)) throw new AppError('BAD_REQUEST', { message: `not an object key: ${key}` })
    return join(options.folder, key)
  }
  const signingKey = createSecretKey(Buffer.from(options.signingKey, 'base64'))
  const beginUpload = createUploads(options)
  const sign = (key: string, expires: string) =>
    createHmac('sha256', signingKey).update(`PUT\n${key}\n${expires}`).digest()

  return {
    signPut: async (key, lifetimeSeconds) => {
      toPath(key)
      const expires = String(Math.floor(options.now().getTime() / 1000) + lifetimeSeconds)
      return `${options.filesUrl}/objects/${key}?expires=${expires}&signature=${sign(key, expires).toString('hex')}`
    },
    mayPut: (key, { expires, signature }) => {
      if (!isObjectKey(key) || !/^\d{1,12}$/.test(expires) || !/^[0-9a-f]{64}$/.test(signature)) return false
      const fresh = Number(expires) * 1000 > options.now().getTime()
      return timingSafeEqual(Buffer.from(signature, 'hex'), sign(key, expires)) && fresh
    },
    beginUpload: async (key) => {
      toPath(key)
      return beginUpload(key)
    },
    put: async (key, bytes) => {
      const path = toPath(key)
      await mkdir(dirname(path), { recursive: true }).catch(fail)
      await writeFile(path, bytes, { flag: 'wx', mode: 0o600 }).catch(fail)
    },
    get: async (key, range) => {
      const path = toPath(key)
      try {
        // Opened before `stat`: an object that is deleted after this is still read to its end.
        const file = await open(path)
        const { size } = await file.stat()
        if (range && range.first >= size) {
          await file.close()
          return undefined
        }
        if (range) {
          const bounds = { start: range.first, end: Math.min(range.last, size - 1) }
          const body = file.createReadStream({ ...bounds, highWaterMark: chunkBytes })
          return { body, bytes: bounds.end - bounds.start + 1 }
        }
        const body = file.createReadStream({ highWaterMark: chunkBytes })
        return {
          body,
          bytes: size,
          all: async () => {
            const all = await file.readFile()
            body.destroy()
            return all
          },
        }
      } catch (error) {
        return missing(error) ? undefined : fail(error)
      }
    },
    delete: async (keys) => {
      await Promise.all(keys.map((key) => removeWithFolders(toPath(key)))).catch(fail)
      return []
    },
    list: (prefix, after = '') => {
      // Listing one capture reads its folder alone, not those of all hours and of all captures of its hour.
      const start = prefix.slice(0, prefix.lastIndexOf('/') + 1)
      return walk(join(options.folder, start), start, { prefix, after })
    },
  }
}

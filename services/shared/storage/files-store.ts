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
  /** Makes the bytes the object's, to stay where the machine fails next. Answers false, and drops them, where the key is taken already. */
  readonly commit: () => Promise<boolean>
  readonly abandon: () => Promise<void>
}

/** The files driver: the store, and what the gateway's object endpoint needs to serve the addresses that it signs. */
export type FilesStore = ObjectStore & {
  /** Whether `signature` was made by `signPut` for this key and has not expired. */
  readonly mayPut: (key: string, query: { expires: string; signature: string }) => boolean
  readonly beginUpload: (key: string) => Promise<Upload>
}

type FilesOptions = {
  folder: string
  filesUrl: string
  signingKey: string
  now: () => Date
  /** Brings what was written to a file or a folder to the disk. */
  sync?: (path: string) => Promise<void>
}

/** What is read at a time; every reader that is slow holds a few of these. */
const chunkBytes = 32 * 1024
/** What comes while a part of an upload is written is written together, up to this. */
const uploadBytes = 1024 * 1024

/** Below the store's folder; what is written here is linked to its key once it is whole. */
const uploadsFolder = 'uploads'
/** What a process left that was killed goes then: no upload takes that long. */
const leftoverMs = 3_600_000
const lookForLeftoversMs = 600_000
const linkTries = 3

const missing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

const removeOld = async (folder: string, beforeMs: number): Promise<void> => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    // Another process may be at it too.
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }))
    if (mtimeMs < beforeMs) await rm(path, { force: true })
  }
}

const syncPath = async (path: string): Promise<void> => {
  await using opened = await open(path)
  await opened.datasync()
}

/** The store's folder and those of a key in it. Another upload may have made any of them a moment ago. */
const foldersOf = (folder: string, key: string): string[] =>
  key.split('/').map((_, depth, parts) => join(folder, ...parts.slice(0, depth)))

/** Links a file to its path, whose folder may be taken away meanwhile by who deletes the last object in it. */
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

/** Removes a file, and the folders of its capture and its hour where nothing else is in them. */
const removeWithFolders = async (path: string): Promise<void> => {
  await rm(path, { force: true })
  const folder = dirname(path)
  // A folder that is not empty stays, and with it the one above.
  await rmdir(folder)
    .then(() => rmdir(dirname(folder)))
    .catch(() => {})
}

const refuse = (cause: unknown): never => {
  throw new AppError('SERVICE_UNAVAILABLE', { message: `object store: ${String(cause)}`, cause })
}

/** What of the files below `folder` is wanted: keys between `prefix` and what begins with it, behind `after`. */
type Wanted = { readonly prefix: string; readonly after: string }

/** Whether a key that begins with `start` may be wanted. */
const mayHold = (start: string, { prefix, after }: Wanted): boolean =>
  (start.startsWith(prefix) || prefix.startsWith(start)) && start >= after.slice(0, start.length)

async function* walk(folder: string, start: string, wanted: Wanted): AsyncIterable<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (missing(error)) return []
    return refuse(error)
  })
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const key = start + entry.name
    if (entry.isDirectory() && mayHold(`${key}/`, wanted)) yield* walk(join(folder, entry.name), `${key}/`, wanted)
    else if (isObjectKey(key) && key.startsWith(wanted.prefix) && key > wanted.after) yield key
  }
}

/** Takes uploads below the store's folder; what a killed process left of some is removed now and then. */
const createUploads = ({ folder, now, sync = syncPath }: Pick<FilesOptions, 'folder' | 'now' | 'sync'>) => {
  const uploads = join(folder, uploadsFolder)
  let lookedMs = 0
  const removeLeftovers = () => {
    const nowMs = now().getTime()
    if (nowMs - lookedMs < lookForLeftoversMs) return
    lookedMs = nowMs
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
          await Promise.all(foldersOf(folder, key).map(sync))
          return true
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
          return refuse(error)
        } finally {
          await unlink(partial)
        }
      },
      abandon: () => rm(partial, { force: true }),
    }
  }
}

/** Keeps objects as files below `folder`. An object appears under its key whole or not at all, and is never overwritten. */
export const createFilesStore = (options: FilesOptions): FilesStore => {
  const pathOf = (key: string) => {
    if (!isObjectKey(key)) throw new AppError('BAD_REQUEST', { message: `not an object key: ${key}` })
    return join(options.folder, key)
  }
  const signingKey = createSecretKey(Buffer.from(options.signingKey, 'base64'))
  const beginUpload = createUploads(options)
  const sign = (key: string, expires: string) =>
    createHmac('sha256', signingKey).update(`PUT\n${key}\n${expires}`).digest()

  return {
    signPut: async (key, lifetimeSeconds) => {
      pathOf(key)
      const expires = String(Math.floor(options.now().getTime() / 1000) + lifetimeSeconds)
      return `${options.filesUrl}/objects/${key}?expires=${expires}&signature=${sign(key, expires).toString('hex')}`
    },
    mayPut: (key, { expires, signature }) => {
      if (!isObjectKey(key) || !/^\d{1,12}$/.test(expires) || !/^[0-9a-f]{64}$/.test(signature)) return false
      const fresh = Number(expires) * 1000 > options.now().getTime()
      return timingSafeEqual(Buffer.from(signature, 'hex'), sign(key, expires)) && fresh
    },
    beginUpload: async (key) => {
      pathOf(key)
      return beginUpload(key)
    },
    put: async (key, bytes) => {
      const path = pathOf(key)
      await mkdir(dirname(path), { recursive: true }).catch(refuse)
      await writeFile(path, bytes, { flag: 'wx', mode: 0o600 }).catch(refuse)
    },
    get: async (key, range) => {
      const path = pathOf(key)
      try {
        // Opened before it is measured: an object that is deleted from here on is still read to its end.
        const file = await open(path)
        const { size } = await file.stat()
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
        return missing(error) ? undefined : refuse(error)
      }
    },
    delete: async (keys) => {
      await Promise.all(keys.map((key) => removeWithFolders(pathOf(key)))).catch(refuse)
      return []
    },
    list: (prefix, after = '') => walk(options.folder, '', { prefix, after }),
  }
}

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import { AppError } from '#shared/errors/app-error.ts'
import { createFilesStore } from '#shared/storage/files-store.ts'
import type { FoundObject, ObjectStore } from '#shared/storage/object-store.ts'
import { objectsPrefix } from '#shared/storage/objects.ts'
import { type Command, requiredText, type Typed, UsageError } from './command.ts'

const parallel = 4
/** Objects go through memory, `parallel` of them at one time. */
const objectBytesMax = 512 * 1024 * 1024

/** What was copied, and how many objects were there already. */
type Copied = { copied: number; kept: number; bytes: number }

const readWhole = async (key: string, { body, bytes }: FoundObject): Promise<Buffer> => {
  if (bytes > objectBytesMax) {
    body.destroy()
    throw new AppError('SERVICE_UNAVAILABLE', {
      message: `${key} has ${bytes} bytes, and ${objectBytesMax} is the most`,
    })
  }
  const whole = Buffer.concat(await body.toArray())
  if (whole.length === bytes) return whole
  throw new AppError('SERVICE_UNAVAILABLE', { message: `${key} ended after ${whole.length} of ${bytes} bytes` })
}

/** Keys of `from` that `to` has not. Both lists are in one order, so that neither is ever in memory. */
async function* missingKeys(from: ObjectStore, to: ObjectStore, kept: () => void): AsyncGenerator<string> {
  const there = to.list(objectsPrefix)[Symbol.asyncIterator]()
  let next = await there.next()
  for await (const key of from.list(objectsPrefix)) {
    while (!next.done && next.value < key) next = await there.next()
    if (!next.done && next.value === key) kept()
    else yield key
  }
}

/**
 * Copies every object that `to` has not by `store`, which makes one appear whole or not at all: what broke off is gone on
 * with by another call. Objects that end meanwhile are left out.
 */
export const copyObjects = async (
  from: ObjectStore,
  to: ObjectStore,
  store: (key: string, bytes: Buffer) => Promise<unknown>,
): Promise<Copied> => {
  const done: Copied = { copied: 0, kept: 0, bytes: 0 }
  const keys = missingKeys(from, to, () => (done.kept += 1))
  const copyUntilDone = async () => {
    // One generator for all: each key is taken by one of them.
    for (let each = await keys.next(); !each.done; each = await keys.next()) {
      const found = await from.get(each.value)
      if (!found) continue
      const bytes = await readWhole(each.value, found)
      await store(each.value, bytes)
      done.copied += 1
      done.bytes += bytes.length
    }
  }
  await Promise.all(Array.from({ length: parallel }, copyUntilDone))
  return done
}

type Store = { readonly objects: ObjectStore; readonly store: (key: string, bytes: Buffer) => Promise<unknown> }

const openFolder = (folder: string): Store => {
  // Nothing is signed here.
  const files = createFilesStore({ folder, filesUrl: '', signingKey: '', now: () => new Date() })
  const store = async (key: string, bytes: Buffer) => {
    const upload = await files.beginUpload(key)
    try {
      await pipeline(Readable.from([bytes]), upload.sink)
    } catch (error) {
      await upload.abandon()
      throw error
    }
    return upload.commit()
  }
  return { objects: files, store }
}

const openBucket = async (url: string): Promise<Store> => {
  const { createS3Store } = await import('#shared/storage/s3-store.ts')
  const objects = createS3Store(url)
  return { objects, store: (key, bytes) => objects.put(key, bytes, 'application/octet-stream') }
}

/** An address of a bucket, a folder, or `@FILE` with such an address, which then no list of processes shows. */
const openPlace = async (typed: Typed, name: 'from' | 'to'): Promise<Store> => {
  const given = requiredText(typed, name)
  const read = () =>
    readFile(given.slice(1), 'utf8').catch((cause: unknown) => {
      throw new UsageError(`--${name} ${given}: there is no such file`, { cause })
    })
  const place = given.startsWith('@') ? (await read()).trim() : given
  return /^https?:/.test(place) ? openBucket(place) : openFolder(resolve(place.replace(/^file:\/\//, '')))
}

/** `objects copy`: copies the images of an installation into another bucket or folder, those that it has not. */
export const objectsCopy: Command = {
  usage: 'objects copy --from PLACE --to PLACE',
  summary: 'copies images that the other place has not: to back them up, or to move to another object store',
  flags: {
    from: { type: 'string', value: 'PLACE', help: 'a folder, https://KEY:SECRET@HOST/BUCKET, or @FILE with either' },
    to: { type: 'string', value: 'PLACE', help: 'the same' },
  },
  run: async ({ print }, typed) => {
    const [from, to] = [await openPlace(typed, 'from'), await openPlace(typed, 'to')]
    const done = await copyObjects(from.objects, to.objects, to.store)
    print({ json: done, text: `copied ${done.copied} objects, ${done.bytes} bytes; ${done.kept} were there` })
  },
}

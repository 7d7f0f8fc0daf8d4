import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import { copyObjects } from './copy-objects.ts'
import { createFilesStore } from '#shared/storage/files-store.ts'
import type { ObjectStore } from '#shared/storage/object-store.ts'
import { type Command, requiredText, type Typed, UsageError } from './command.ts'

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
  operands: [],
  run: async ({ print }, typed) => {
    const [from, to] = [await openPlace(typed, 'from'), await openPlace(typed, 'to')]
    const done = await copyObjects(from.objects, to.objects, to.store)
    print({ json: done, text: `copied ${done.copied} objects, ${done.bytes} bytes; ${done.kept} were there` })
  },
}

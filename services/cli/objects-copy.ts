import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import { type Env, readEnv } from '#shared/config/read-env.ts'
import { s3KeySettings } from '#shared/config/settings/outside.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { createFilesStore } from '#shared/storage/files-store.ts'
import type { FoundObject, ObjectStore } from '#shared/storage/object-store.ts'
import { objectsPrefix } from '#shared/storage/objects.ts'
import { openKeys } from '#shared/storage/open-keys.ts'
import { fixedKeys } from '#shared/storage/s3-keys.ts'
import { type Command, type CommandContext, requiredText, UsageError } from './command/command.ts'
import { createProgress } from './command/progress.ts'

const parallel = 4
/** Whole objects are buffered in memory, `parallel` of them at a time. */
const objectBytesMax = 512 * 1024 * 1024

/** `kept`: objects that existed in the target already. */
export type Copied = { copied: number; kept: number; bytes: number }

/** Existing objects between two reports of the progress: a comparison is much faster than a copy. */
const keptPerReport = 1000

const readWhole = async (key: string, { body, bytes }: FoundObject): Promise<Buffer> => {
  if (bytes > objectBytesMax) {
    body.destroy()
    throw new AppError('SERVICE_UNAVAILABLE', {
      message: `${key} has ${bytes} bytes; the maximum is ${objectBytesMax}`,
    })
  }
  const whole = Buffer.concat(await body.toArray())
  if (whole.length === bytes) return whole
  throw new AppError('SERVICE_UNAVAILABLE', { message: `${key} ended after ${whole.length} of ${bytes} bytes` })
}

/** Keys of `from` that `to` lacks. Merges the two sorted listings, so that neither is held in memory. */
async function* missingKeys(
  from: Pick<ObjectStore, 'list'>,
  to: Pick<ObjectStore, 'list'>,
  onExisting: () => void,
): AsyncGenerator<string> {
  const existing = to.list(objectsPrefix)[Symbol.asyncIterator]()
  let next = await existing.next()
  for await (const key of from.list(objectsPrefix)) {
    while (!next.done && next.value < key) next = await existing.next()
    if (!next.done && next.value === key) onExisting()
    else yield key
  }
}

/** Objects, and how one is stored. */
export type Store = { readonly objects: ObjectStore; readonly store: (key: string, bytes: Buffer) => Promise<unknown> }

/**
 * Copies every object that `to` lacks. Its `store` must write atomically, so that another call resumes an interrupted copy.
 * Skips objects that are deleted meanwhile.
 */
export const copyObjects = async (
  from: Pick<ObjectStore, 'list' | 'get'>,
  { objects: to, store }: { readonly objects: Pick<ObjectStore, 'list'>; readonly store: Store['store'] },
  progressed: (done: Readonly<Copied>) => void,
): Promise<Copied> => {
  const done: Copied = { copied: 0, kept: 0, bytes: 0 }
  const keys = missingKeys(from, to, () => {
    done.kept += 1
    if (done.kept % keptPerReport === 0) progressed(done)
  })
  const copyUntilDone = async () => {
    // The copiers share one generator: each key goes to one of them.
    for (let each = await keys.next(); !each.done; each = await keys.next()) {
      const found = await from.get(each.value)
      if (!found) continue
      const bytes = await readWhole(each.value, found)
      await store(each.value, bytes)
      done.copied += 1
      done.bytes += bytes.length
      progressed(done)
    }
  }
  await Promise.all(Array.from({ length: parallel }, copyUntilDone))
  return done
}

/** A target that does not exist is created; a source that does not would look like one without images. */
const assertFolder = async (name: string, folder: string): Promise<void> => {
  const found = await stat(folder).catch(() => undefined)
  if (!found?.isDirectory()) throw new UsageError(`--${name} ${folder}: there is no such folder`)
}

const openFolder = (folder: string): Store => {
  // The command signs no URLs.
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

/** Opens a bucket with the keys of its address, else with those that the settings name. */
export const openBucket = async (url: string, env: Env): Promise<Store> => {
  const { createS3Store } = await import('#shared/storage/s3-store.ts')
  const objects = createS3Store(url, (region, inAddress) => {
    if (inAddress) return fixedKeys(inAddress)
    const settings = readEnv(s3KeySettings, env)
    if (settings.s3KeysFrom !== 'url') return openKeys(settings, region, undefined)
    throw new UsageError(
      `the address of ${new URL(url).host} has no keys: write https://KEY:SECRET@HOST/BUCKET, or set SHUTTERFLEET_S3_KEYS_FROM`,
    )
  })
  return { objects, store: (key, bytes) => objects.put(key, bytes, 'application/octet-stream') }
}

/** Opens a bucket URL, a folder, or `@FILE` that contains either, which keeps credentials out of the process list. `flag` named it. */
export const openStore = async (place: string, flag: string, env: Env): Promise<Store> => {
  const read = () =>
    readFile(place.slice(1), 'utf8').catch((cause: unknown) => {
      throw new UsageError(`--${flag} ${place}: there is no such file`, { cause })
    })
  const address = place.startsWith('@') ? (await read()).trim() : place
  if (/^https?:/.test(address)) return openBucket(address, env)
  const folder = resolve(address.replace(/^file:\/\//, ''))
  if (flag.endsWith('from')) await assertFolder(flag, folder)
  return openFolder(folder)
}

const describeCopied = ({ copied, kept, bytes }: Copied): string =>
  `copied ${copied} objects, ${bytes} bytes; skipped ${kept} that already exist`

const copyWithProgress = async (context: CommandContext, from: Store, to: Store): Promise<Copied> => {
  using progress = createProgress(context)
  return await copyObjects(from.objects, to, (done) => progress.showText(describeCopied(done)))
}

/** `objects copy`: copies the images of an installation that another bucket or folder lacks. */
export const objectsCopy: Command = {
  usage: 'objects copy --from PLACE --to PLACE',
  summary: 'copies images that the target lacks, for backups or a move to another object store',
  json: '{ copied, kept, bytes }',
  flags: {
    from: {
      type: 'string',
      value: 'PLACE',
      help: 'a folder, https://KEY:SECRET@HOST/BUCKET, or @FILE with either; without KEY:SECRET@ the keys are those of SHUTTERFLEET_S3_KEYS_FROM',
    },
    to: { type: 'string', value: 'PLACE', help: 'the same' },
  },
  run: async (context, args) => {
    const from = await openStore(requiredText(args, 'from'), 'from', context.env)
    const to = await openStore(requiredText(args, 'to'), 'to', context.env)
    const done = await copyWithProgress(context, from, to)
    context.print({ json: done, text: describeCopied(done) })
  },
}

import { AppError } from '#shared/errors/app-error.ts'
import type { FoundObject, ObjectStore } from '#shared/storage/object-store.ts'
import { objectsPrefix } from '#shared/storage/objects.ts'

const parallel = 4
/** Objects go through memory, `parallel` of them at one time. */
const objectBytesMax = 512 * 1024 * 1024

/** What was copied, and how many objects were there already. */
export type Copied = { copied: number; kept: number; bytes: number }

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

import { completeRemovals, expireObjects, postponeRemovals, takeRemovals } from './db/object-removals.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { NotDeleted } from '#shared/storage/object-store.ts'
import type { Ledger } from './context.ts'

/** What S3 deletes at most with one request. */
const batchObjects = 1000
const batchesMax = 2
/** Delay before the retry of an object that the store refused to delete. */
const refusedMs = 300_000

type Dependencies = Pick<Ledger, 'database' | 'objects' | 'events'>

/** Deletes one batch; resolves to the objects that the store kept. */
const removeBatch = async ({ database, objects, events }: Dependencies, keys: readonly string[]) => {
  const notDeleted = await objects.delete(keys)
  const notDeletedKeys = new Set(notDeleted.map(({ key }) => key))
  const gone = keys.filter((key) => !notDeletedKeys.has(key))
  await completeRemovals(database, gone)
  await postponeRemovals(database, [...notDeletedKeys], refusedMs)
  if (gone.length > 0) events.objectsRemoved(gone.length)
  return notDeleted
}

/**
 * Deletes objects whose retention has ended, and those that no record refers to. A row is deleted only after its object.
 * Resolves to whether there may be more. Throws `SERVICE_UNAVAILABLE` if the store kept some, after the others are deleted.
 */
export const removeObjects = async (ledger: Dependencies): Promise<boolean> => {
  const notDeleted: NotDeleted[] = []
  let more = true
  for (let batch = 0; batch < batchesMax && more; batch += 1) {
    const expired = await expireObjects(ledger.database, batchObjects)
    const keys = await takeRemovals(ledger.database, batchObjects)
    if (keys.length > 0) notDeleted.push(...(await removeBatch(ledger, keys)))
    more = Math.max(expired, keys.length) === batchObjects
  }
  if (notDeleted.length === 0) return more
  const reasons = [...new Set(notDeleted.map(({ reason }) => reason))].join(', ')
  throw new AppError('SERVICE_UNAVAILABLE', {
    message: `object store: ${notDeleted.length} objects not deleted: ${reasons}`,
  })
}

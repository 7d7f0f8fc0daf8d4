import { expireObjects, findRemovals, forgetRemovals } from '#shared/db/object-removals.ts'
import type { Ledger } from './context.ts'

const batchObjects = 500
const batchesMax = 100

/** Deletes objects whose retention has ended, and those that no record refers to. A row goes only after its bytes. */
export const removeObjects = async ({
  database,
  objects,
  events,
}: Pick<Ledger, 'database' | 'objects' | 'events'>): Promise<void> => {
  for (let batch = 0; batch < batchesMax; batch += 1) {
    await expireObjects(database, batchObjects)
    const keys = await findRemovals(database, batchObjects)
    if (keys.length === 0) return
    await objects.delete(keys)
    await forgetRemovals(database, keys)
    events.objectsRemoved(keys.length)
    if (keys.length < batchObjects) return
  }
}

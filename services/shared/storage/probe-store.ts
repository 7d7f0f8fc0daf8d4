import { randomUUID } from 'node:crypto'
import { AppError } from '#shared/errors/app-error.ts'
import type { ObjectStore } from './object-store.ts'
import { newObjectKey } from './objects.ts'

const probeBytes = 16_384

/** Puts an object and deletes it; throws `SERVICE_UNAVAILABLE` if the store refuses. The sweep of orphans deletes what a killed probe left. */
export const probeStore = async (objects: Pick<ObjectStore, 'put' | 'delete'>): Promise<void> => {
  const key = newObjectKey(randomUUID(), new Date())
  const remove = () => objects.delete([key])
  const put = objects.put(key, Buffer.alloc(probeBytes), 'application/octet-stream')
  // Also after a failure: a full disk keeps the beginning of the object.
  const [refused] = await put.then(remove, remove)
  await put
  if (refused) throw new AppError('SERVICE_UNAVAILABLE', { message: `object store: delete refused: ${refused.reason}` })
}

import { completeDeletion, type Deletion, takeDeletions } from './db/deletions.ts'
import { removeOrphans } from './db/object-removals.ts'
import { deleteMessages } from '#shared/queue/streams.ts'
import { captureSubject, resultSubject, startedSubject } from '#shared/queue/subjects.ts'
import { capturesStream, resultsStream } from '#shared/queue/topology.ts'
import { objectPrefixes } from '#shared/storage/objects.ts'
import type { Ledger } from './context.ts'

type Dependencies = Pick<Ledger, 'database' | 'queue' | 'objects' | 'events'>

const batchDeletions = 50
const concurrency = 4

/** Marks the objects of all attempts, reported or not, for removal unless another record refers to them. */
const removeCaptureObjects = async ({ database, objects }: Dependencies, { id, acceptedAt }: Deletion) => {
  for (const prefix of objectPrefixes(id, new Date(acceptedAt))) {
    await removeOrphans(database, await Array.fromAsync(objects.list(prefix)))
  }
}

const finishOne = async (ledger: Dependencies, deletion: Deletion) => {
  await deleteMessages(ledger.queue, capturesStream.name, captureSubject(deletion))
  for (const subject of [startedSubject(deletion), resultSubject(deletion)]) {
    await deleteMessages(ledger.queue, resultsStream.name, subject)
  }
  await removeCaptureObjects(ledger, deletion)
  await completeDeletion(ledger.database, deletion)
}

/** Each runner stops at its first error; unfinished deletions are claimed again later. Throws the first error. */
const finishAll = async (ledger: Dependencies, deletions: readonly Deletion[]) => {
  const left = deletions.values()
  const runner = async () => {
    for (const deletion of left) await finishOne(ledger, deletion)
  }
  const outcomes = await Promise.allSettled(Array.from({ length: concurrency }, runner))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  ledger.events.deletionsFinished(deletions.length)
}

/**
 * Removes what is outside of the database of captures that were deleted, or failed without a worker's report: the message
 * that waits for a worker, the reports of workers, objects. A deletion is retried until all parts have succeeded. Handles one
 * batch; resolves to whether there may be more.
 */
export const finishDeletions = async (ledger: Dependencies): Promise<boolean> => {
  const deletions = await takeDeletions(ledger.database, batchDeletions)
  if (deletions.length > 0) await finishAll(ledger, deletions)
  return deletions.length === batchDeletions
}

import { type Deletion, forgetDeletion, takeDeletions } from './db/deletions.ts'
import { removeOrphans } from './db/object-removals.ts'
import { purgeSubject } from '#shared/queue/streams.ts'
import { captureSubject, resultSubject, startedSubject } from '#shared/queue/subjects.ts'
import { capturesStream, resultsStream } from '#shared/queue/topology.ts'
import { objectPrefixesOf } from '#shared/storage/objects.ts'
import type { Ledger } from './context.ts'

type Dependencies = Pick<Ledger, 'database' | 'queue' | 'objects' | 'events'>

const batchDeletions = 50
const atOnce = 4

/** Marks the objects of all attempts, reported or not, unless another record shares them. */
const removeObjectsOf = async ({ database, objects }: Dependencies, { id, acceptedAt }: Deletion) => {
  for (const prefix of objectPrefixesOf(id, new Date(acceptedAt))) {
    await removeOrphans(database, await Array.fromAsync(objects.list(prefix)))
  }
}

const finishOne = async (ledger: Dependencies, deletion: Deletion) => {
  await purgeSubject(ledger.queue, capturesStream.name, captureSubject(deletion))
  for (const subject of [startedSubject(deletion), resultSubject(deletion)]) {
    await purgeSubject(ledger.queue, resultsStream.name, subject)
  }
  await removeObjectsOf(ledger, deletion)
  await forgetDeletion(ledger.database, deletion)
}

/** A few workers go on until their first failure; unfinished deletions are taken again. Throws the first failure. */
const finishAll = async (ledger: Dependencies, deletions: readonly Deletion[]) => {
  const left = deletions.values()
  const taker = async () => {
    for (const deletion of left) await finishOne(ledger, deletion)
  }
  const outcomes = await Promise.allSettled(Array.from({ length: atOnce }, taker))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  ledger.events.deletionsFinished(deletions.length)
}

/**
 * Removes what deleted captures left outside of the database: the message that waits for a worker, the reports of workers,
 * objects. A deletion is retried until all of it has succeeded. Takes one batch; resolves to whether there may be more.
 */
export const finishDeletions = async (ledger: Dependencies): Promise<boolean> => {
  const deletions = await takeDeletions(ledger.database, batchDeletions)
  if (deletions.length > 0) await finishAll(ledger, deletions)
  return deletions.length === batchDeletions
}

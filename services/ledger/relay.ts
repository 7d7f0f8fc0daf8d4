import { admitWaiting } from '#shared/db/admit-waiting.ts'
import { deleteOutbox } from '#shared/db/delete-outbox.ts'
import { findMessage } from '#shared/db/find-capture.ts'
import { takeOutbox } from '#shared/db/take-outbox.ts'
import { publishCapture } from '#shared/queue/publish-capture.ts'
import type { Ledger } from './context.ts'

type Dependencies = Pick<Ledger, 'database' | 'queue' | 'events' | 'windowCaptures'>

const batchCaptures = 100
const publishesAtOnce = 8
const roundsMax = 100

const publishOne = async ({ database, queue, events }: Dependencies, id: string) => {
  const capture = await findMessage(database, id)
  events.relayed(capture ? await publishCapture(queue, capture) : 'ended')
}

/** Publishes what it can: each of a few publishers goes on until its first failure. What was published is forgotten, the rest stays. */
const publishAll = async (ledger: Dependencies, ids: readonly string[]) => {
  const left = ids.values()
  const done: string[] = []
  const publisher = async () => {
    for (const id of left) {
      await publishOne(ledger, id)
      done.push(id)
    }
  }
  const outcomes = await Promise.allSettled(Array.from({ length: publishesAtOnce }, publisher))
  await deleteOutbox(ledger.database, done)
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

/**
 * Admits waiting captures where windows have room, and publishes the admitted ones that nobody else has: the gateway's
 * fast path failed, they had waited, or they were put back. Throws what kept a capture from being published.
 */
export const relay = async (ledger: Dependencies): Promise<void> => {
  const { database, events, windowCaptures: windowSize } = ledger
  for (let round = 0; round < roundsMax; round += 1) {
    const admitted = await admitWaiting(database, { windowSize, limit: batchCaptures })
    if (admitted > 0) events.admitted(admitted)
    const ids = await takeOutbox(database, batchCaptures)
    if (ids.length > 0) await publishAll(ledger, ids)
    if (ids.length < batchCaptures && admitted < batchCaptures) return
  }
}

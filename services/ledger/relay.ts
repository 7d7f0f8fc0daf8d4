import { admitWaiting } from '#shared/db/admit-waiting.ts'
import { deleteOutbox } from '#shared/db/delete-outbox.ts'
import { findMessage } from '#shared/db/find-capture.ts'
import { takeOutbox } from '#shared/db/take-outbox.ts'
import { publishCapture } from '#shared/queue/publish-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { actOnEach } from './act-on-each.ts'
import type { Ledger } from './context.ts'
import { failCapture, type FailedEnd } from './fail-capture.ts'

type Dependencies = Pick<Ledger, 'database' | 'queue' | 'events' | 'relayWakeup' | 'windowCaptures'>

const batchCaptures = 100
const publishesAtOnce = 8
const roundsMax = 100

const tooLarge: FailedEnd = {
  status: 'failed',
  code: 'JOB_FAILED',
  message: 'The capture is larger than the queue takes.',
}

/** Publishes one capture. One that is larger than NATS takes fails, since no worker could begin it. */
const publishOne = async (ledger: Dependencies, id: string) => {
  const { database, queue, events } = ledger
  const capture = await findMessage(database, id)
  try {
    events.relayed(capture ? await publishCapture(queue, capture) : 'ended')
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CONFIGURATION') throw error
    events.tooLarge(id, error)
    await failCapture(ledger, id, {
      end: tooLarge,
      mayEnd: ({ status }) => status === 'pending' || status === 'processing',
    })
  }
}

/** Publishes captures of the outbox and deletes the rows of those that were. Resolves to their number and the failures of the others. */
const publishAll = async (ledger: Dependencies, ids: readonly string[]) => {
  const done: string[] = []
  const failures = await actOnEach(ledger.queue, { all: ids, atOnce: publishesAtOnce }, async (id) => {
    await publishOne(ledger, id)
    done.push(id)
  })
  await deleteOutbox(ledger.database, done)
  return { published: done.length, failures }
}

/**
 * Admits waiting captures where windows have room, and publishes the admitted ones that are still in the outbox: the gateway
 * could not publish them, they had waited, or they were requeued. Throws the first failure after the other captures; after a
 * round in which none could be published, no further round begins.
 */
export const relay = async (ledger: Dependencies): Promise<void> => {
  const { database, events, windowCaptures: windowSize } = ledger
  const failures: unknown[] = []
  let taken = 0
  for (let round = 0; round < roundsMax; round += 1) {
    const admitted = await admitWaiting(database, { windowSize, limit: batchCaptures })
    if (admitted > 0) events.admitted(admitted)
    const ids = await takeOutbox(database, batchCaptures)
    const outcome = await publishAll(ledger, ids)
    taken += ids.length
    failures.push(...outcome.failures)
    if (ids.length < batchCaptures && admitted < batchCaptures) break
    if (outcome.published === 0) break
  }
  events.relayTurned({ taken, failed: failures.length })
  if (failures.length > 0) throw failures[0]
}

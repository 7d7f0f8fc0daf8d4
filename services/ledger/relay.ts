import { onlyRow, type Sql } from '#shared/db/connection.ts'
import { deleteOutbox } from '#shared/db/delete-outbox.ts'
import { findMessage } from '#shared/db/find-capture.ts'
import type { Pool } from '#shared/capture/lane.ts'
import { publishCapture } from '#shared/queue/publish-capture.ts'
import { poolWakeupSubject } from '#shared/queue/subjects.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { actOnEach } from './act-on-each.ts'
import type { Ledger } from './context.ts'
import { failCapture, type FailedEnd } from './fail-capture.ts'
import { readStatement } from '#shared/db/read-statement.ts'

type Dependencies = Pick<Ledger, 'database' | 'queue' | 'events' | 'relayWakeup' | 'windowCaptures'>

const batchCaptures = 100
const concurrency = 8
const roundsMax = 100

const tooLarge: FailedEnd = {
  status: 'failed',
  code: 'JOB_FAILED',
  message: 'The capture exceeds the maximum message size of the queue; shorten html, markdown, css or js.',
}

/** Admits up to `limit` waiting captures, round-robin across accounts; see `sql/admit-waiting.sql`. Resolves to the number. */
export const admitWaiting = async (
  database: Sql,
  bounds: { readonly windowSize: number; readonly limit: number },
): Promise<number> => {
  const statement = 'select admit_waiting($1, $2) as admitted'
  return onlyRow(await database.query<{ admitted: number }>(statement, [bounds.windowSize, bounds.limit])).admitted
}

/** Duration of a claim; a capture that is not published by then may be claimed again. */
const claimMs = 3000

const take = readStatement(import.meta.dirname, 'db/sql/take-outbox.sql')

/** Claims up to `limit` admitted captures that are due for publishing, the longest due first. */
export const takeOutbox = async (database: Sql, limit: number): Promise<string[]> => {
  const rows = await database.query<{ id: string }>(take, [limit, claimMs])
  return rows.map(({ id }) => id)
}

/**
 * Publishes one capture; resolves to its pool, unless it has ended. Fails one above `max_payload` of NATS, for which `publishCapture`
 * throws `CONFIGURATION`: no retry can publish it.
 */
const publishOne = async (ledger: Dependencies, id: string): Promise<Pool | undefined> => {
  const { database, queue, events } = ledger
  const capture = await findMessage(database, id)
  try {
    events.relayed(capture ? await publishCapture(queue, capture) : 'ended')
    return capture?.pool
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CONFIGURATION') throw error
    events.tooLarge(id, error)
    await failCapture(ledger, id, {
      end: tooLarge,
      mayEnd: ({ status }) => status === 'pending' || status === 'processing',
    })
    return undefined
  }
}

/**
 * Publishes captures of the outbox, wakes the controller of their pools, and deletes the rows of the published ones. Resolves to their
 * number and the errors of the others.
 */
const publishAll = async (ledger: Dependencies, ids: readonly string[]) => {
  const done: string[] = []
  const woken = new Set<Pool>()
  const failures = await actOnEach(ledger.queue, { all: ids, concurrency }, async (id) => {
    const pool = await publishOne(ledger, id)
    if (pool !== undefined) woken.add(pool)
    done.push(id)
  })
  for (const pool of woken) ledger.queue.publish(poolWakeupSubject(pool), new Uint8Array())
  await deleteOutbox(ledger.database, done)
  return { published: done.length, failures }
}

/**
 * Admits waiting captures while windows have room, and publishes the admitted captures in the outbox: those that the gateway
 * could not publish, that had waited, or that were requeued. Stops after a round in which none could be published. Continues
 * with the other captures after an error, then throws the first error.
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
  events.relayRoundEnded({ taken, failed: failures.length })
  if (failures.length > 0) throw failures[0]
}

import type { Sql } from '#shared/db/connection.ts'
import type { Failure } from '#shared/errors/delivery-failures.ts'
import type { TakenDelivery } from './take-deliveries.ts'
import { readStatement } from '#shared/db/read-statement.ts'

/** What came of an attempt, and what becomes of its delivery. */
export type NotedAttempt = {
  /** The delivery's. */
  readonly id: string
  /** The delivery's. */
  readonly takenAt: string
  /** When it began. */
  readonly at: Date
  readonly ms: number
  /** HTTP status of the answer; null where there was none. */
  readonly status: number | null
  /** Null where the receiver took it. */
  readonly error: Failure | null
  /** Milliseconds from now to the next attempt; null where there is none. */
  readonly nextMs: number | null
}

/** How many deliveries a receiver gets at a time, and what becomes of one that does not answer. */
export type Adapting = {
  /** Of a queue that is new, and the least after failures. */
  readonly parallelMin: number
  readonly parallelMax: number
  /** A receiver that takes a delivery within this gets one more at a time. */
  readonly quickMs: number
  /** Times in a row without an answer after which a receiver is left alone for `pauseMs`, twice as long each further time. */
  readonly brokenAfter: number
  readonly pauseMs: number
  readonly pauseMaxMs: number
}

/**
 * A receiver that took a delivery stays told, whatever another attempt at the same time came to. Its queue is adapted to
 * what came of its attempts: one more delivery at a time for each that it took quickly, half as many where any failed; an
 * address that may not be reached says nothing of it. Queues are locked in order; takers wait for none of them.
 */
const note = readStatement(import.meta.dirname, 'sql/note-attempts.sql')

/** Writes down attempts, each of another delivery. Deliveries that are gone are left out. */
export const noteAttempts = async (
  database: Sql,
  attempts: readonly NotedAttempt[],
  { parallelMin, parallelMax, quickMs, brokenAfter, pauseMs, pauseMaxMs }: Adapting,
): Promise<void> => {
  if (attempts.length === 0) return
  const bounds = [quickMs, parallelMin, parallelMax, brokenAfter, pauseMs, pauseMaxMs]
  await database.query(note, [JSON.stringify(attempts), ...bounds])
}

const expire = readStatement(import.meta.dirname, 'sql/expire-deliveries.sql')

/** Gives up to `limit` deliveries up that wait since longer than `ageMs`, and writes down why. Answers how many. */
export const expireDeliveries = async (database: Sql, ageMs: number, limit: number): Promise<number> => {
  const rows = await database.query(expire, [ageMs, limit])
  return rows.length
}

const handBack = readStatement(import.meta.dirname, 'sql/hand-back-deliveries.sql')

/**
 * Hands back deliveries that could not be tried for a reason of our own; they are due again after `waitMs`. Of one that
 * nobody has tried before, what was to be sent is forgotten: its first attempt is still to come.
 */
export const handBackDeliveries = async (
  database: Sql,
  deliveries: readonly Pick<TakenDelivery, 'id' | 'body'>[],
  waitMs: number,
): Promise<void> => {
  if (deliveries.length === 0) return
  await database.query(handBack, [deliveries.map(({ id }) => id), deliveries.map(({ body }) => body === null), waitMs])
}

import type { Sql } from '#shared/db/connection.ts'
import type { Failure } from '#shared/errors/delivery-failures.ts'
import type { Held, TakenDelivery } from './take-deliveries.ts'
import { readStatement } from '#shared/db/read-statement.ts'

/** The result of an attempt, and when its delivery is retried. */
export type AttemptRecord = Held & {
  /** The delivery's. */
  readonly takenAt: string
  /** When it began. */
  readonly at: Date
  readonly ms: number
  /** HTTP status of the response; null if there was none. */
  readonly status: number | null
  /** Null if the receiver accepted it. */
  readonly error: Failure | null
  /** The sealed body that was sent; null if it is stored already. */
  readonly body: string | null
  /** Milliseconds from now to the next attempt; null if there is none. */
  readonly nextMs: number | null
}

/** Bounds of a receiver's concurrency, and the pauses of one that does not respond. */
export type ReceiverBounds = {
  /** Concurrency of a new queue, and the least after failures. */
  readonly parallelMin: number
  readonly parallelMax: number
  /** Each delivery that is accepted within this time increases the receiver's concurrency by 1. */
  readonly fastResponseMs: number
  /** Consecutive attempts without a response after which a receiver is paused for `pauseMs`, doubled each further time. */
  readonly brokenAfter: number
  readonly pauseMs: number
  readonly pauseMaxMs: number
}

/**
 * A delivery that a receiver accepted stays delivered, whatever the result of a concurrent attempt. The receiver's concurrency
 * follows the results: 1 more for each fast success, half if any attempt failed; `blocked` does not count as a failure. Queues
 * are locked in order; senders that take deliveries skip locked ones.
 */
const recordStatement = readStatement(import.meta.dirname, 'sql/record-attempts.sql')

/**
 * Stores attempts and what they sent, at most one of each take, which ends with it: a repetition, as after a lost response,
 * changes nothing. Skips deliveries that were deleted or taken again.
 */
export const recordAttempts = async (
  database: Sql,
  attempts: readonly AttemptRecord[],
  { parallelMin, parallelMax, fastResponseMs, brokenAfter, pauseMs, pauseMaxMs }: ReceiverBounds,
): Promise<void> => {
  if (attempts.length === 0) return
  const bounds = [fastResponseMs, parallelMin, parallelMax, brokenAfter, pauseMs, pauseMaxMs]
  await database.query(recordStatement, [JSON.stringify(attempts), ...bounds])
}

const expire = readStatement(import.meta.dirname, 'sql/expire-deliveries.sql')

/** Fails up to `limit` deliveries that have waited longer than `ageMs`, as `expired`. Returns their number. */
export const expireDeliveries = async (database: Sql, ageMs: number, limit: number): Promise<number> => {
  const rows = await database.query(expire, [ageMs, limit])
  return rows.length
}

const handBack = readStatement(import.meta.dirname, 'sql/hand-back-deliveries.sql')

/**
 * Hands back deliveries that could not be attempted through our own fault; they are due again after `waitMs`. Clears body and
 * `sent_at` of a delivery that was never attempted, so that its first attempt sets them.
 */
export const handBackDeliveries = async (
  database: Sql,
  deliveries: readonly Pick<TakenDelivery, 'id' | 'take' | 'body' | 'sentAt' | 'takenAt'>[],
  waitMs: number,
): Promise<void> => {
  if (deliveries.length === 0) return
  // One that was taken before may have been sent.
  const untried = deliveries.map(({ body, sentAt, takenAt }) => body === null && sentAt === takenAt)
  await database.query(handBack, [deliveries.map(({ id }) => id), deliveries.map(({ take }) => take), untried, waitMs])
}

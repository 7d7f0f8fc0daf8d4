import { onlyRow, type Sql } from '#shared/db/connection.ts'
import type { Ledger } from './context.ts'
import type { Events, RemovedRows } from './telemetry/events.ts'
import { batchRows, removeExpiredRows } from './remove-expired-rows.ts'

type Dependencies = Pick<Ledger, 'rowRetentionDays'> & {
  readonly database: Sql
  readonly events: Pick<Events, 'rowsRemoved'>
}

/** Captures end up to this long after their batch was accepted, so that most batches are empty after it. */
const batchLagDays = 2

/** Rows older than `days`; at most `limit` of them are examined, the oldest first. */
type Bounds = { readonly days: number; readonly limit: number }

/** `lookedAt`, the number of examined rows, is below the limit if none are left or another process holds the lock. */
type Removed = { readonly lookedAt: number; readonly removed: number }

const remove = (name: 'remove_ended' | 'remove_empty_batches') => {
  const statement = `select looked_at as "lookedAt", removed from ${name}(now() - make_interval(days => $1), $2)`
  return async (database: Sql, { days, limit }: Bounds): Promise<Removed> =>
    onlyRow(await database.query<Removed>(statement, [days, limit]))
}

/** Removes captures that ended `days` ago and whose images have expired; see `sql/remove-ended.sql`. */
export const removeEnded = remove('remove_ended')

/** Removes batches without captures that were accepted `days` ago; see `sql/remove-empty-batches.sql`. */
const removeEmptyBatches = remove('remove_empty_batches')

/**
 * Deletes old rows, one batch per table, in small transactions that wait for no lock: those that have expired, captures
 * that ended `rowRetentionDays` ago with their dependent rows, and batches without captures. One after the other, so that
 * concurrent accepts hardly wait. Resolves to whether there may be more. If expired rows cannot be removed, the others still
 * are, and the error is thrown last.
 */
export const removeOldRows = async ({ database, events, rowRetentionDays: days }: Dependencies): Promise<boolean> => {
  const [expired] = await Promise.allSettled([removeExpiredRows({ database, events })])
  let more = expired.status === 'fulfilled' && expired.value
  const note = (table: RemovedRows, { lookedAt, removed }: Removed) => {
    if (removed > 0) events.rowsRemoved(table, removed)
    more ||= lookedAt >= batchRows
  }
  note('capture', await removeEnded(database, { days, limit: batchRows }))
  note('batch', await removeEmptyBatches(database, { days: days + batchLagDays, limit: batchRows }))
  if (expired.status === 'rejected') throw expired.reason
  return more
}

import { onlyRow, type Sql } from '#shared/db/connection.ts'
import type { Ledger } from './context.ts'
import type { RemovedRows } from './events.ts'

const batchRows = 500
/** Captures end up to this long after their batch was accepted, so that a batch is mostly empty by then. */
const batchLagDays = 2

/** Rows of before `days` days; `limit` bounds how many are looked at in order of age. */
type Old = { readonly days: number; readonly limit: number }

/** `lookedAt` is less than the limit where nothing is left, or where another process is at it. */
type Removed = { readonly lookedAt: number; readonly removed: number }

const remove = (name: 'remove_ended' | 'remove_empty_batches') => {
  const statement = `select looked_at as "lookedAt", removed from ${name}(now() - make_interval(days => $1), $2)`
  return async (database: Sql, { days, limit }: Old): Promise<Removed> =>
    onlyRow(await database.query<Removed>(statement, [days, limit]))
}

/** Removes captures that ended that long ago and whose images are over; see `sql/remove-ended.sql`. */
export const removeEnded = remove('remove_ended')

/** Removes batches that were accepted that long ago and of which no capture is left; see `sql/remove-empty-batches.sql`. */
const removeEmptyBatches = remove('remove_empty_batches')

/**
 * Deletes one batch of old rows in small transactions that wait for no lock: captures that ended
 * `rowRetentionDays` ago, with their dependent rows, and batches as old without captures. Resolves to whether there may be
 * more.
 */
export const removeOldRows = async ({
  database,
  events,
  rowRetentionDays: days,
}: Pick<Ledger, 'database' | 'events' | 'rowRetentionDays'>): Promise<boolean> => {
  let more = false
  const note = (table: RemovedRows, { lookedAt, removed }: Removed) => {
    if (removed > 0) events.rowsRemoved(table, removed)
    more ||= lookedAt >= batchRows
  }
  note('capture', await removeEnded(database, { days, limit: batchRows }))
  note('batch', await removeEmptyBatches(database, { days: days + batchLagDays, limit: batchRows }))
  return more
}

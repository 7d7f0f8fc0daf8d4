import { onlyRow, type Sql } from '#shared/db/connection.ts'
import type { Ledger } from './context.ts'
import type { RemovedRows } from './events.ts'

const batchRows = 500
/** Captures end up to this long after their batch was accepted, so that a batch is mostly empty by then. */
const batchLagDays = 2

/** Which rows are old: those of before `days` days; `limit` bounds how many are looked at in order of age. */
export type Old = { readonly days: number; readonly limit: number }

/** `lookedAt` is less than the limit where nothing is left, or where another process is at it. */
export type Removed = { readonly lookedAt: number; readonly removed: number }

const call = (name: 'remove_ended' | 'remove_empty_batches') => `
select looked_at as "lookedAt", removed from ${name}(now() - make_interval(days => $1), $2)`

/** Removes captures that ended that long ago and whose images are over; see `sql/remove-ended.sql`. */
export const removeEnded = async (database: Sql, { days, limit }: Old): Promise<Removed> =>
  onlyRow(await database.query<Removed>(call('remove_ended'), [days, limit]))

/** Removes batches that were accepted that long ago and of which no capture is left; see `sql/remove-empty-batches.sql`. */
const removeEmptyBatches = async (database: Sql, { days, limit }: Old): Promise<Removed> =>
  onlyRow(await database.query<Removed>(call('remove_empty_batches'), [days, limit]))

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
  const limit = batchRows
  const removals: readonly (readonly [RemovedRows, () => Promise<Removed>])[] = [
    ['capture', () => removeEnded(database, { days, limit })],
    ['batch', () => removeEmptyBatches(database, { days: days + batchLagDays, limit })],
  ]
  let more = false
  for (const [table, remove] of removals) {
    const { lookedAt, removed } = await remove()
    if (removed > 0) events.rowsRemoved(table, removed)
    more ||= lookedAt >= limit
  }
  return more
}

import { onlyRow, type Sql } from '#shared/db/connection.ts'
import type { Ledger } from './context.ts'
import type { Events, RemovedRows } from './telemetry/events.ts'
import { partitionDays } from './keep-partitions.ts'
import { batchRows, removeCaptureCounts, removeExpiredRows } from './remove-expired-rows.ts'

type Dependencies = Pick<Ledger, 'rowRetentionDays'> & {
  readonly database: Sql
  readonly events: Pick<Events, 'rowsRemoved'>
}

/** Captures end up to this long after their batch was accepted, so that most batches are empty after it. */
const batchLagDays = 2
/** Captures that were accepted into a partition just before its end have ended this long after it, except few. */
const dropLagDays = 1

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

/** Drops the oldest partition of captures that are all over, see `sql/keep-captures.sql`. Resolves to the approximate number of its rows. */
export const dropPartition = async (database: Sql, days: number): Promise<number | undefined> => {
  const [dropped] = await database.query<{ removed: number }>(
    'select removed::float8 as removed from drop_captures($1) where part is not null',
    [days],
  )
  return dropped?.removed
}

/**
 * Deletes old rows, one batch per table, in small transactions that wait for hardly any lock: those that have expired, a partition
 * of captures that all ended `rowRetentionDays` ago, the counts of its days, single captures with their dependent rows that ended longer ago than any
 * such partition (another capture of theirs has an image), and batches without captures. One after the other, so that
 * concurrent accepts hardly wait. Resolves to whether there may be more. If rows of one kind cannot be removed, the others still
 * are, and the first error is thrown last.
 */
export const removeOldRows = async ({ database, events, rowRetentionDays: days }: Dependencies): Promise<boolean> => {
  const note = (table: RemovedRows, { lookedAt, removed }: Removed) => {
    if (removed > 0) events.rowsRemoved(table, removed)
    return lookedAt >= batchRows
  }
  const afterPartitions = days + partitionDays(days) + dropLagDays
  const removals: readonly (() => Promise<boolean>)[] = [
    () => removeExpiredRows({ database, events }),
    async () => {
      const removed = await dropPartition(database, days)
      if (removed) events.rowsRemoved('capture', removed)
      return removed !== undefined
    },
    async () => {
      const removed = await removeCaptureCounts(database, days, batchRows)
      return note('capture_count', { lookedAt: removed, removed })
    },
    async () => note('capture', await removeEnded(database, { days: afterPartitions, limit: batchRows })),
    async () =>
      note('batch', await removeEmptyBatches(database, { days: afterPartitions + batchLagDays, limit: batchRows })),
  ]
  let more = false
  const errors: unknown[] = []
  for (const removal of removals) {
    try {
      more = (await removal()) || more
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
  return more
}

import { removeEmptyBatches, removeEnded, type Removed } from '#shared/db/remove-old.ts'
import type { Ledger } from './context.ts'
import type { RemovedRows } from './events.ts'

const batchRows = 500
/** Captures end up to this long after their batch was accepted, so that a batch is mostly empty by then. */
const batchLagDays = 2

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

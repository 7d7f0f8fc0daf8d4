import { removeEmptyBatches, removeEnded, type Removed } from '#shared/db/remove-old.ts'
import type { Ledger } from './context.ts'
import type { RemovedRows } from './events.ts'

const batchRows = 500
/** Captures end up to this long after their batch was accepted, so that a batch is mostly empty when it is looked at. */
const batchLagDays = 2

/**
 * Removes one batch of rows that are over, in small transactions that wait for nobody: captures that ended
 * `rowRetentionDays` ago, with what belongs to them, and batches as old of which no capture is left. Answers whether there
 * may be more.
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

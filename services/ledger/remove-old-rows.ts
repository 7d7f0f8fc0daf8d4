import { removeEmptyBatches, removeEnded } from '#shared/db/remove-old.ts'
import type { Ledger } from './context.ts'
import type { RemovedRows } from './events.ts'

const batchRows = 500
const batchesMax = 20

/**
 * Removes rows that are over, in small transactions that wait for nobody: captures that ended `rowRetentionDays` ago, with
 * what belongs to them, and batches as old of which no capture is left. What one turn leaves the next takes.
 */
export const removeOldRows = async ({
  database,
  events,
  rowRetentionDays,
}: Pick<Ledger, 'database' | 'events' | 'rowRetentionDays'>): Promise<void> => {
  const old = { days: rowRetentionDays, limit: batchRows }
  const removals: readonly (readonly [RemovedRows, () => Promise<number>])[] = [
    ['capture', () => removeEnded(database, old)],
    ['batch', () => removeEmptyBatches(database, old)],
  ]
  for (const [table, remove] of removals) {
    for (let batch = 0; batch < batchesMax; batch += 1) {
      const rows = await remove()
      if (rows > 0) events.rowsRemoved(table, rows)
      if (rows < batchRows) break
    }
  }
}

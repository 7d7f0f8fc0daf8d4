import { echoCompleted } from '#shared/capture/echo-options.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import type { CaptureRef, Records } from './captures.ts'
import type { Batch } from '#gateway/records/batch.ts'

type Row = Omit<Batch, 'status' | 'pending'>

const statusOf = ({ total, processing, completed, failed }: Row): Batch['status'] => {
  if (completed + failed >= total) return 'completed'
  return processing + completed + failed === 0 ? 'pending' : 'processing'
}

/** The contract's batch record. Status `completed`: all captures have ended, failed ones included; deleted ones stay counted. */
export const toBatchRecord = (row: Row): Batch => {
  const { id, total, processing, completed, failed, created_at, screenshots } = row
  return {
    id,
    status: statusOf(row),
    total,
    pending: total - processing - completed - failed,
    processing,
    completed,
    failed,
    created_at,
    screenshots: screenshots.map((each) =>
      each.status === 'completed' ? { ...each, options: echoCompleted(each.options) } : each,
    ),
  }
}

const find = readStatement(import.meta.dirname, 'sql/find-batch.sql')

/** A batch of an account by its id, a UUID; undefined if the account has no such batch. */
export const findBatch = async (
  { database, records }: Records,
  { id, accountId }: CaptureRef,
): Promise<Batch | undefined> => {
  const [row] = await database.query<Row>(find, [id, accountId])
  return row && toBatchRecord({ ...row, screenshots: row.screenshots.map((each) => records.open(each)) })
}

import { echoCompleted } from '#shared/capture/echo-options.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import type { CaptureRef, Records } from './captures.ts'
import type { Sql } from '#shared/db/connection.ts'
import type { Batch, BatchSummary } from '#gateway/records/batch.ts'
import type { CapturePosition } from './list-captures.ts'

type SummaryRow = Omit<BatchSummary, 'status' | 'pending'>
type Row = SummaryRow & Pick<Batch, 'screenshots'>

const statusOf = ({ total, processing, completed, failed }: SummaryRow): Batch['status'] => {
  if (completed + failed >= total) return 'completed'
  return processing + completed + failed === 0 ? 'pending' : 'processing'
}

const toSummary = (row: SummaryRow): BatchSummary => {
  const { id, total, processing, completed, failed, created_at } = row
  const pending = total - processing - completed - failed
  return { id, status: statusOf(row), total, pending, processing, completed, failed, created_at }
}

/** The contract's batch record. Status `completed`: all captures have ended, failed ones included; deleted ones stay counted. */
export const toBatchRecord = (row: Row): Batch => ({
  ...toSummary(row),
  screenshots: row.screenshots.map((each) =>
    each.status === 'completed' ? { ...each, options: echoCompleted(each.options) } : each,
  ),
})

const list = readStatement(import.meta.dirname, 'sql/list-batches.sql')

/** At most `limit` batches of an account, newest first, older than `before` if given. */
export const listBatches = async (
  database: Sql,
  { accountId, status }: { readonly accountId: string; readonly status: Batch['status'] | undefined },
  { limit, before }: { readonly limit: number; readonly before: CapturePosition | undefined },
): Promise<BatchSummary[]> => {
  const values = [accountId, before?.createdAt ?? null, before?.id ?? null, status ?? null, limit]
  return (await database.query<SummaryRow>(list, values)).map(toSummary)
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

import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import type { Ledger } from './context.ts'

const batchRows = 500
/** How long deliveries that ended are kept for their account to look at. */
const deliveryDays = 30

const forget = (file: string) => {
  const statement = readStatement(import.meta.dirname, `db/sql/${file}`)
  return async (database: Sql, ...parameters: readonly number[]): Promise<number> =>
    (await database.query(statement, parameters)).length
}

/** Forgets up to `limit` idempotency keys that are older than the 24 hours for which they count, the oldest first. Answers how many. */
export const forgetReplays = forget('forget-replays.sql')

/** Forgets up to `limit` queues that nobody has taken from for an hour and in which nothing waits. Answers how many. */
const forgetQueues = forget('forget-queues.sql')

/** Forgets deliveries that ended and are older than so many days, up to a limit. Answers how many. */
export const forgetDeliveries = forget('forget-deliveries.sql')

/**
 * Deletes one batch of expired idempotency keys, of deliveries that ended 30 days ago and earlier, and of empty queues of
 * receivers. Resolves to whether there may be more.
 */
export const forgetOld = async ({ database, events }: Pick<Ledger, 'database' | 'events'>): Promise<boolean> => {
  const keys = await forgetReplays(database, batchRows)
  if (keys > 0) events.rowsRemoved('idempotency_key', keys)
  const deliveries = await forgetDeliveries(database, deliveryDays, batchRows)
  if (deliveries > 0) events.rowsRemoved('webhook_delivery', deliveries)
  const queues = await forgetQueues(database, batchRows)
  return Math.max(keys, deliveries, queues) === batchRows
}

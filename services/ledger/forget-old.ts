import { forgetDeliveries, forgetQueues } from '#shared/db/note-attempts.ts'
import { forgetReplays } from '#shared/db/forget-replays.ts'
import type { Ledger } from './context.ts'

const batchRows = 500
/** How long deliveries that ended are kept for their account to look at. */
const deliveryDays = 30

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

import type { Sql } from './connection.ts'

/**
 * Deletes the outbox rows of captures that have been published; missing rows are ignored. A row that is due meanwhile stays, and
 * is published again: the queue may have lost the message since, and the capture was requeued.
 */
export const deleteOutbox = async (database: Sql, ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return
  // A row that another transaction has locked is being deleted by it; waiting for it could deadlock.
  await database.query(
    `delete from outbox where capture_id in
       (select capture_id from outbox where capture_id = any ($1::uuid[]) and relay_at > clock_timestamp()
         for update skip locked)`,
    [ids],
    'keep',
  )
}

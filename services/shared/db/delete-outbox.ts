import type { Sql } from './connection.ts'

/** Deletes the outbox rows of captures that are in the queue or have ended; missing rows are ignored. */
export const deleteOutbox = async (database: Sql, ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return
  // A row that another transaction has locked is being deleted by it; waiting for it could deadlock.
  await database.query(
    `delete from outbox where capture_id in
       (select capture_id from outbox where capture_id = any ($1::uuid[]) for update skip locked)`,
    [ids],
    'keep',
  )
}

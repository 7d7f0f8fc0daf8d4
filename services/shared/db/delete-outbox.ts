import type { Sql } from './connection.ts'

/** Removes captures from the outbox that stand in the queue or have ended; those that are gone already do not matter. */
export const deleteOutbox = async (database: Sql, ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return
  // A row that somebody else has locked is being removed by them; to wait for it could end in a deadlock.
  await database.query(
    `delete from outbox where capture_id in
       (select capture_id from outbox where capture_id = any ($1::uuid[]) for update skip locked)`,
    [ids],
    'keep',
  )
}

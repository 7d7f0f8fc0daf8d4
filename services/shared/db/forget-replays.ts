import type { Sql } from './connection.ts'

/** Forgets up to `limit` idempotency keys that are older than the 24 hours for which they count, the oldest first. Answers how many. */
export const forgetReplays = async (database: Sql, limit: number): Promise<number> => {
  const rows = await database.query(
    `delete from idempotency_key where (account_id, key) in (
       select account_id, key from idempotency_key where created_at <= now() - interval '24 hours'
        order by created_at limit $1 for update skip locked)
     returning key`,
    [limit],
  )
  return rows.length
}

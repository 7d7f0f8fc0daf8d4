import type { Sql } from './connection.ts'

/** A capture that was taken is left to its taker this long; then the next one takes it. */
const claimMs = 3000

/** Claims up to `limit` admitted captures that the relay is to publish now, the longest due first. */
export const takeOutbox = async (database: Sql, limit: number): Promise<string[]> => {
  const rows = await database.query<{ id: string }>(
    `update outbox set relay_at = now() + $2 * interval '1 millisecond' where capture_id in
       (select capture_id from outbox where relay_at <= now() order by relay_at limit $1 for update skip locked)
     returning capture_id as id`,
    [limit, claimMs],
  )
  return rows.map(({ id }) => id)
}

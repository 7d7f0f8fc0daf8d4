import type { Sql } from '#shared/db/connection.ts'

/** Deliveries that follow in the transaction of a change; the ledger continues with the others within seconds. */
const atOnceMax = 1000

/**
 * Has the deliveries of a webhook that was changed or deleted, or of an upload destination that was deleted, follow; see
 * the SQL function `follow_receiver`.
 */
export const followReceiver = async (
  sql: Sql,
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Promise<void> => {
  await sql.query(
    `insert into receiver_change (id, account_id, changed_at) values ($1, $2, clock_timestamp())
       on conflict (id) do update set changed_at = excluded.changed_at`,
    [id, accountId],
  )
  await sql.query('select follow_receiver($1, $2)', [id, atOnceMax])
}

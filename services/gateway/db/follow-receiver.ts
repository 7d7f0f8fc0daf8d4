import type { Sql } from '#shared/db/connection.ts'

/** The newest deliveries follow in the transaction of a change; the ledger continues with older ones. */
const atOnceMax = 1000

type Change = {
  readonly accountId: string
  /** Of the webhook or upload destination. */
  readonly id: string
  /** What is pending now fails. */
  readonly isDeactivated?: boolean
}

/**
 * Has deliveries follow a webhook that was changed or deleted, or an upload destination that was deleted; see the SQL function
 * `follow_receiver`.
 */
export const followReceiver = async (sql: Sql, { accountId, id, isDeactivated = false }: Change): Promise<void> => {
  await sql.query(
    `insert into receiver_change (id, account_id, due_at, deactivated_at)
     values ($1, $2, clock_timestamp(), case when $3::boolean then clock_timestamp() end)
         on conflict (id) do update
        set due_at = excluded.due_at, is_second = default, walked_at = default, walked_id = default,
            deactivated_at = coalesce(excluded.deactivated_at, receiver_change.deactivated_at)`,
    [id, accountId, isDeactivated],
  )
  await sql.query('select follow_receiver($1, $2)', [id, atOnceMax])
}

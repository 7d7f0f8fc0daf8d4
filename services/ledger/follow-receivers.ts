import type { Sql } from '#shared/db/connection.ts'

const batchRows = 500

/**
 * Brings a batch of deliveries in line with a webhook that was changed or deleted, or an upload destination that was deleted;
 * see the SQL function `follow_receiver`. Resolves to whether there may be more.
 */
export const followReceivers = async ({ database }: { readonly database: Sql }): Promise<boolean> => {
  // Any of them, so that one with millions of deliveries holds up no other.
  const statement = `
    select follow_receiver(c.id, $1)
      from (select r.id from receiver_change r join account a on a.id = r.account_id and a.moving_at is null
             where r.due_at <= now() order by random() limit 1) as c`
  return (await database.query(statement, [batchRows])).length > 0
}

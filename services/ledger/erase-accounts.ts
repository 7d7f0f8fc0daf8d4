import { finishErasure } from '#shared/db/accounts.ts'
import type { Database, Sql } from '#shared/db/connection.ts'
import type { Events } from './telemetry/events.ts'

type Dependencies = { readonly database: Database; readonly events: Pick<Events, 'accountErased'> }

const batchRows = 1000
const batchCaptures = 100

/**
 * Deletes captures as their owner would; the ledger then removes their messages and objects. Followers first: they would be promoted one
 * after the other if what they follow went before them.
 */
const eraseCaptures = async (database: Database, accountId: string): Promise<number> => {
  const rows = await database.query(
    `with follower as (
       select id from capture where account_id = $1 and part = 'open' and follows is not null order by id limit $2)
     select delete_capture(c.id, $1) from (
       select id from follower
       union all
       select o.id from (select id from capture where account_id = $1 and not exists (select from follower)
                          order by id limit $2 for update) as o) as c`,
    [accountId, batchCaptures],
  )
  return rows.length
}

/**
 * Tables with a column `account_id`, except five: `capture` and `outbox`, whose rows go with their captures; `deletion`, which
 * the ledger still has to process; `api_key`; and `activity`, because the ids of rows are unique only within its partitions, which
 * are listed.
 */
const listTables = async (sql: Sql): Promise<string[]> => {
  const rows = await sql.query<{ name: string }>(
    `select quote_ident(c.table_name) as name from information_schema.columns c
       join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = current_schema() and c.column_name = 'account_id' and t.table_type = 'BASE TABLE'
        and c.table_name not in ('outbox', 'deletion', 'api_key', 'activity') and c.table_name not in (
          select p.relid::text from pg_partition_tree('capture') as p) order by 1`,
  )
  return rows.map(({ name }) => name)
}

const eraseRows = async (sql: Sql, table: string, accountId: string): Promise<number> => {
  const some = `array(select ctid from ${table} where account_id = $1 limit $2)`
  const rows = await sql.query(`delete from ${table} where ctid = any (${some}) returning 1 as gone`, [
    accountId,
    batchRows,
  ])
  return rows.length
}

/**
 * Erases one batch of rows of an account whose erasure is due, and finally the account itself: of any, so that one whose rows cannot
 * be erased holds up no other. Resolves to whether there may be more to erase.
 */
export const eraseAccounts = async ({ database, events }: Dependencies): Promise<boolean> => {
  const [account] = await database.query<{ id: string }>(
    'select id from account where erasing_at <= now() order by random() limit 1',
  )
  if (!account) return false
  const { id } = account
  // An accept in progress when the account was disabled has locked its meter; without the meter none can succeed.
  if ((await eraseRows(database, 'account_meter', id)) > 0) return true
  if ((await eraseCaptures(database, id)) > 0) return true
  for (const table of await listTables(database)) if ((await eraseRows(database, table, id)) > 0) return true
  if (await finishErasure(database, id)) events.accountErased(id)
  return true
}

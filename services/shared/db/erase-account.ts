import { findAccount, setDisabled } from './accounts.ts'
import { type Actor, recordChange } from './audit.ts'
import type { Database, Sql } from './connection.ts'
import { AuditEntry } from './entities/audit-entry.ts'
import { ApiKey } from './entities/api-key.ts'

const batchRows = 1000

/** Captures with their places in the queue; their objects are left to the ledger to remove. */
const eraseCaptures = (database: Database, accountId: string): Promise<number> =>
  database.transaction(async (sql) => {
    const rows = await sql.query<{ id: string }>(
      'select id from capture where account_id = $1 order by id limit $2 for update',
      [accountId, batchRows],
    )
    const ids = rows.map(({ id }) => id)
    if (ids.length === 0) return 0
    await sql.query('delete from outbox where capture_id = any ($1::uuid[])', [ids])
    await sql.query(
      `with gone as (delete from stored_object where capture_id = any ($1::uuid[]) returning key)
       insert into object_removal (key, not_before)
       select key, now() from gone
       union select object_key, now() from capture where id = any ($1::uuid[]) and object_key is not null
           on conflict do nothing`,
      [ids],
    )
    await sql.query('delete from capture where id = any ($1::uuid[])', [ids])
    return ids.length
  })

/**
 * Every table that holds an account's rows, whichever there are. Its meter comes first: an accept that was under way when
 * the account was disabled holds its row, and none succeeds without it, so no capture comes after.
 */
const tablesOf = async (sql: Sql): Promise<string[]> => {
  const rows = await sql.query<{ name: string }>(
    `select quote_ident(c.table_name) as name from information_schema.columns c
       join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = current_schema() and c.column_name = 'account_id' and t.table_type = 'BASE TABLE'
        and c.table_name <> 'capture' order by c.table_name <> 'account_meter', 1`,
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

const untilNone = async (erase: () => Promise<number>): Promise<void> => {
  while ((await erase()) > 0);
}

/**
 * Erases an account with everything that is its own: keys, captures, images, counts. It is disabled first, so nothing
 * comes after; what breaks off in the middle is finished by a second call. Of the record of changes only who did what and
 * when stays. Throws `NOT_FOUND`.
 */
export const eraseAccount = async (database: Database, accountId: string, actor: Actor): Promise<void> => {
  await setDisabled(database, accountId, true, actor)
  const keys = await database.entities((entities) => entities.find(ApiKey, { account: accountId }))
  for (const table of await tablesOf(database)) {
    if (table !== 'api_key') await untilNone(() => eraseRows(database, table, accountId))
  }
  await untilNone(() => eraseCaptures(database, accountId))
  await database.entities(async (entities) => {
    const account = await findAccount(entities, accountId, 'lock')
    const targets = [accountId, ...keys.map(({ id }) => id)]
    await entities.nativeUpdate(AuditEntry, { target: targets }, { detail: {} })
    entities.remove(account)
    recordChange(entities, { actor, action: 'account.erase', target: accountId })
  })
}

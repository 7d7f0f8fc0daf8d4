import { findAccount, setDisabled } from '#shared/db/accounts.ts'
import { type Actor, recordChange } from '#shared/db/audit.ts'
import type { Database, Sql } from '#shared/db/connection.ts'
import { AuditEntry } from '#shared/db/entities/audit-entry.ts'
import { ApiKey } from '#shared/db/entities/api-key.ts'

const batchRows = 1000
const batchCaptures = 100

/** Deletes captures as their owner would; the ledger then removes their messages and objects. */
const eraseCaptures = async (database: Database, accountId: string): Promise<number> => {
  const rows = await database.query(
    `select delete_capture(c.id, $1)
       from (select id from capture where account_id = $1 order by id limit $2 for update) as c`,
    [accountId, batchCaptures],
  )
  return rows.length
}

/**
 * All tables with a column `account_id`, except `capture`, whose deletion includes `outbox`, `deletion`, which the ledger
 * still has to process, and `api_key`.
 */
const tablesOf = async (sql: Sql): Promise<string[]> => {
  const rows = await sql.query<{ name: string }>(
    `select quote_ident(c.table_name) as name from information_schema.columns c
       join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = current_schema() and c.column_name = 'account_id' and t.table_type = 'BASE TABLE'
        and c.table_name not in ('capture', 'outbox', 'deletion', 'api_key') order by 1`,
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

const repeatUntilZero = async (erase: () => Promise<number>): Promise<void> => {
  while ((await erase()) > 0);
}

/**
 * Erases an account with its keys, captures, images and counts. Disables it first, so that no rows are added meanwhile; a
 * second call completes an interrupted one. The audit log keeps only actor, action, target and time. Throws `NOT_FOUND`.
 */
export const eraseAccount = async (database: Database, accountId: string, actor: Actor): Promise<void> => {
  await setDisabled(database, accountId, true, actor)
  const keys = await database.entities((entities) => entities.find(ApiKey, { account: accountId }))
  // An accept in progress when the account was disabled has locked its meter; without the meter none can succeed.
  await repeatUntilZero(() => eraseRows(database, 'account_meter', accountId))
  await repeatUntilZero(() => eraseCaptures(database, accountId))
  for (const table of await tablesOf(database)) await repeatUntilZero(() => eraseRows(database, table, accountId))
  await database.entities(async (entities) => {
    const account = await findAccount(entities, accountId, 'lock')
    const targets = [accountId, ...keys.map(({ id }) => id)]
    await entities.nativeUpdate(AuditEntry, { target: targets }, { detail: {} })
    entities.remove(account)
    recordChange(entities, { actor, action: 'account.erase', target: accountId })
  })
}

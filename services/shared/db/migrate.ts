import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#shared/errors/app-error.ts'
import { classifyDatabaseError } from './classify-error.ts'
import { type Database, onlyRow, type Sql } from './connection.ts'
import { migrations } from './migrations.ts'

/** Time-out of a migration's statement: an index on millions of rows takes minutes. */
export const migrationStatementMs = 3_600_000

/** The replaceable SQL functions, ordered by their use of each other's types. */
const functions = [
  'iso-time',
  'keep-captures',
  'find-capture',
  'list-captures',
  'keep-activity',
  'check-request',
  'count-ended',
  'queue-deliveries',
  'take-deliveries',
  'follow-receiver',
  'warn-of-quota',
  'find-replay',
  'claim-answer',
  'share-capture',
  'accept-capture',
  'accept-batch',
  'admit-waiting',
  'end-followers',
  'change-captures',
  'release-objects',
  'delete-capture',
  'remove-ended',
  'remove-empty-batches',
  'recount-meters',
] as const

const lockTries = 300
const lockPauseMs = 200

const lockAlone = async (sql: Sql): Promise<void> => {
  await sql.query('set local idle_in_transaction_session_timeout = 0')
  for (let tries = 0; tries < lockTries; tries += 1) {
    const lock = `select pg_try_advisory_xact_lock(hashtext('shutterfleet migrate')) as locked`
    if (onlyRow(await sql.query<{ locked: boolean }>(lock)).locked) return
    await delay(lockPauseMs)
  }
  throw new AppError('SERVICE_UNAVAILABLE', { message: 'PostgreSQL: another migration has been running for a minute' })
}

/** Rejects a schema of a newer release before anything is overwritten. */
const refuseNewer = async (sql: Sql): Promise<void> => {
  const [table] = await sql.query<{ name: string | null }>(`select to_regclass('mikro_orm_migrations')::text as name`)
  if (table?.name == null) return
  const recorded = await sql.query<{ name: string }>('select name from mikro_orm_migrations order by id')
  const unknown = recorded.filter(({ name }) => !migrations.some((known) => known.name === name))
  if (unknown.length === 0) return
  throw new AppError('CONFIGURATION', {
    publicMessage: `the database has the schema of a newer release (${unknown.map(({ name }) => name).join(', ')}): run that release or a newer one, or restore a backup from before the upgrade`,
  })
}

const readFunction = async (name: string) => {
  const text = await readFile(join(import.meta.dirname, 'sql', `${name}.sql`), 'utf8')
  return { name, text, sha256: createHash('sha256').update(text).digest('hex') }
}

/** Replaces all functions if the text of any has changed: they use each other's types. Returns the names of the changed ones. */
const applyFunctions = async (sql: Sql): Promise<string[]> => {
  const recorded = await sql.query<{ name: string; sha256: string }>('select name, sha256 from sql_function')
  const files = await Promise.all(functions.map(readFunction))
  const changed = files.filter((file) => !recorded.some((row) => row.name === file.name && row.sha256 === file.sha256))
  if (changed.length === 0) return []
  for (const { name, text, sha256 } of files) {
    await sql.query(text)
    await sql.query(
      'insert into sql_function values ($1, $2) on conflict (name) do update set sha256 = excluded.sha256',
      [name, sha256],
    )
  }
  return changed.map(({ name }) => name)
}

/**
 * Brings the database to this version's schema: pending migrations, each in a transaction of its own, the SQL functions whose
 * text differs, and the partitions of the next days. A database with many rows has to be opened with `migrationStatementMs`. Takes a lock, waiting at most a minute for another
 * migration. Idempotent. Returns the names of what was applied. Throws `CONFIGURATION`, with nothing changed, if the
 * schema is that of a newer release.
 */
export const migrate = (database: Database): Promise<string[]> =>
  database.transaction(async (sql) => {
    await lockAlone(sql)
    await refuseNewer(sql)
    const applied = await database.orm.migrator.up().catch((error: unknown) => {
      throw classifyDatabaseError(error)
    })
    const functionsApplied = await applyFunctions(sql)
    // The ledger removes old days, of which none is older; it also knows how long partitions of captures should be.
    await sql.query('select keep_activity(36500), keep_captures(7)')
    return [...applied.map(({ name }) => name), ...functionsApplied]
  })

import { randomUUIDv7 } from 'node:crypto'
import { type Database, openDatabase } from '#shared/db/connection.ts'
import { migrationStatementMs } from '#shared/db/migrate.ts'
import { migrations } from '#shared/db/migrations.ts'
import type { TestPostgres } from './postgres.ts'
import { createTenant, type Tenant } from './tenant.ts'

/** Opens the server's own database, brings it to the schema before the migration of this name, and creates an account. */
export const openBefore = async (
  server: TestPostgres,
  name: string,
): Promise<{ database: Database; tenant: Tenant }> => {
  const database = openDatabase({ url: server.url, poolMax: 8, statementMs: migrationStatementMs })
  const before = migrations[migrations.findIndex((each) => each.name === name) - 1]
  if (!before) throw new Error(`no migration before ${name}`)
  await database.orm.migrator.up({ to: before.name })
  // The entity has a column that migration 0037 adds.
  await database.query('alter table account add column moving_at timestamptz')
  const tenant = await createTenant(database)
  await database.query('alter table account drop column moving_at')
  return { database, tenant }
}

/** What the release before partitions wrote of a capture, without its meters. */
export const acceptBefore = `insert into capture (id, account_id, pool, lane, options, token_hash, budget_ms, period, retention_seconds, created_at)
  values ($1, $2, 'standard', 'normal', '{}', '', 1000, now(), 3600, now()) returning id`
const begin = `update capture set status = 'processing', attempts = 1, unended_starts = 1, started_at = now(), attempt_started_at = now()
  where id = $1 and status = 'pending' returning id`
const end = `update capture set status = 'failed', error_code = 'TIMEOUT', error_message = 'slow', completed_at = now()
  where id = $1 and status = 'processing' returning id`
const find = `select from capture where id = $1 and account_id = $2 and status = 'failed'`

/** What was done so far: ids of captures that ended and of those that run, and the longest statement since it was last asked for. */
export type LoadBefore = { readonly ended: string[]; readonly running: string[]; readonly longestMs: () => number }

/**
 * Accepts, begins and finds captures, and ends half of them, with four connections, as the release before partitions did. `stop`
 * resolves once all have stopped; it and `failed` reject if a statement failed or did not find its capture.
 */
export const startLoadBefore = (
  database: Database,
  accountId: string,
): LoadBefore & { failed: Promise<unknown>; stop: () => Promise<void> } => {
  const stopping = new AbortController()
  const [ended, running]: [string[], string[]] = [[], []]
  let longestMs = 0
  const run = async (statement: string, ...parameters: readonly string[]) => {
    const began = performance.now()
    const { length } = await database.query(statement, parameters)
    longestMs = Math.max(longestMs, performance.now() - began)
    if (length !== 1) throw new Error(`a capture was not there for: ${statement}`)
  }
  const work = async () => {
    while (!stopping.signal.aborted) {
      const [id, other] = [randomUUIDv7(), randomUUIDv7()]
      for (const each of [id, other]) await run(acceptBefore, each, accountId)
      for (const each of [id, other]) await run(begin, each)
      await run(end, id)
      await run(find, id, accountId)
      ended.push(id)
      running.push(other)
    }
  }
  const takeLongest = () => {
    const taken = longestMs
    longestMs = 0
    return taken
  }
  const failed = Promise.all(Array.from({ length: 4 }, work))
  const stop = async () => {
    stopping.abort()
    await failed
  }
  return { ended, running, longestMs: takeLongest, failed, stop }
}

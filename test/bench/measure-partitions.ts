import { setTimeout as delay } from 'node:timers/promises'
import { dropPartition } from '#ledger/remove-old-rows.ts'
import type { Database } from '#shared/db/connection.ts'
import { migrate } from '#shared/db/migrate.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { openBefore, startLoadBefore } from '#test/helpers/unpartitioned.ts'
import { fillCaptures, fillUnpartitioned } from './fill-captures.ts'

/** Rows that are migrated, rows of the partition that is dropped, and how long the load alone is measured. */
export type PartitionsWorkload = { readonly rows: number; readonly dropped: number; readonly aloneMs: number }

/** Seconds that something took, and the longest statement of four connections that accepted, began, ended and found captures meanwhile. */
export type Beside = { readonly seconds: number; readonly longestMs: number }

/** The load alone, while the table of captures became partitions, and while a partition was dropped. */
export type PartitionsUse = Readonly<Record<'alone' | 'migration' | 'drop', Beside>>

const retentionDays = 90

const dropAll = async (database: Database) => {
  const old = 'select from capture_ended where completed_at < now() - make_interval(days => $1) limit 1'
  // Drops that wait for a lock give up, and are tried again.
  while ((await database.query(old, [retentionDays])).length > 0) await dropPartition(database, retentionDays)
}

/** Migrates a database with rows and drops a partition of it, both under load, with PostgreSQL's safe settings. */
export const measurePartitions = async ({ rows, dropped, aloneMs }: PartitionsWorkload): Promise<PartitionsUse> => {
  await using server = await startPostgres(undefined, [])
  const { database, tenant } = await openBefore(server, '0035-mark-partitions')
  await using _opened = database
  const accountIds = [tenant.accountId]
  await fillUnpartitioned(database, { accountIds, rows, newestDays: 1, oldestDays: 80 })
  const load = startLoadBefore(database, tenant.accountId)
  const beside = async (work: () => Promise<unknown>): Promise<Beside> => {
    load.longestMs()
    const began = performance.now()
    await Promise.race([work(), load.failed])
    return { seconds: (performance.now() - began) / 1000, longestMs: load.longestMs() }
  }
  const alone = await beside(() => delay(aloneMs))
  const migration = await beside(() => migrate(database))
  const over = { newestDays: retentionDays + 8, oldestDays: retentionDays + 9 }
  await fillCaptures(server, { accountIds, rows: dropped, ...over })
  const drop = await beside(() => dropAll(database))
  await load.stop()
  return { alone, migration, drop }
}

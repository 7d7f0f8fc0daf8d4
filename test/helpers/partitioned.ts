import { randomUUIDv7 } from 'node:crypto'
import type { Ledger } from '#ledger/context.ts'
import { keepPartitions } from '#ledger/keep-partitions.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import type { Database } from '#shared/db/connection.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { createTestLedger } from './ledger.ts'
import type { TestPostgres } from './postgres.ts'
import { accept } from './running-ledger.ts'
import { createTenant } from './tenant.ts'

/** A new database with a tenant, and a ledger of it without a queue. */
export const startPartitioned = async (server: TestPostgres) => {
  const database = await server.createDatabase()
  const ledger = createTestLedger(database, {} as Ledger['queue'])
  // The partitions of the database that it is copied from may begin on an earlier day.
  await dropComing(database)
  await keepPartitions(ledger)
  return { database, ledger, tenant: await createTenant(database) }
}

/** See `startPartitioned`. */
export type Partitioned = Awaited<ReturnType<typeof startPartitioned>>

/** An id as a gateway makes it whose clock is that many days behind. */
export const idOf = (daysAgo: number) => {
  const time = (Date.now() - daysAgo * 86_400_000).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}${randomUUIDv7().slice(13)}`
}

/** The table in which a capture is; undefined if there is none. */
export const partitionOf = async (database: Database, id: string) => {
  const statement = 'select tableoid::regclass::text as part from capture where id = $1'
  return (await database.query<{ part: string }>(statement, [id]))[0]?.part
}

/** Names of the partitions with an end. */
export const partitions = async (database: Database) =>
  (await database.query<{ part: string }>('select part from capture_partitions()')).map(({ part }) => part)

const facts = { fileSize: 1, sha256: 'ab', mimeType: 'image/png', width: 1, height: 1, warnings: [], timings: {} }

/** Completes a capture. */
export const end = async ({ database }: Partitioned, id: string) => {
  const outcome = { status: 'completed', objectKey: newObjectKey(id, new Date()), ...facts } as const
  await changeCaptures(database, [id], () => ({
    change: { attempts: 1, unendedStarts: 0, begins: true, end: outcome },
  }))
}

type Age = { readonly daysAgo: number; readonly endedDaysAgo?: number; readonly expiresInDays?: number }

/** A capture that was accepted and completed that many days ago; of its image only the record is left by default. */
export const ended = async (world: Partitioned, { daysAgo, endedDaysAgo = daysAgo, expiresInDays = -1 }: Age) => {
  const { id } = await accept(world, { id: idOf(daysAgo) })
  await end(world, id)
  await world.database.query(
    `with aged as (
       update capture set created_at = now() - make_interval(days => $2), completed_at = now() - make_interval(days => $3),
         expires_at = now() + make_interval(days => $4) where id = $1 returning *)
     insert into capture_count as n (account_id, day, completed)
     select account_id, (created_at at time zone 'utc')::date, 1 from aged
         on conflict (account_id, day) do update set completed = n.completed + 1`,
    [id, daysAgo, endedDaysAgo, expiresInDays],
  )
  return id
}

/** Gives an installation a partition that ended 97 days ago, as an older one has it. */
export const addOldPartition = (database: Database) =>
  database.query(`do $$
    declare
      edges constant uuid[] := array[least_id(now() - interval '97 days'), least_id(date_trunc('day', now(), 'utc'))];
    begin
      execute format('create table capture_old partition of capture_ended for values from (minvalue) to (%L)', edges[1]);
      execute format('create table capture_young partition of capture_ended for values from (%L) to (%L)', edges[1], edges[2]);
    end $$`)

/** Removes the partitions to come, as if no ledger had run for a while. */
export const dropComing = (database: Database) =>
  database.query(`do $$ declare p text; begin
    for p in select part from capture_partitions() loop execute format('drop table %I', p); end loop; end $$`)

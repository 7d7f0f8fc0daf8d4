import t from 'tap'
import { removeCaptureCounts, removeUploads } from '#ledger/remove-expired-rows.ts'
import { dropPartition, removeOldRows } from '#ledger/remove-old-rows.ts'
import type { Database } from '#shared/db/connection.ts'
import { eventually } from '#test/helpers/eventually.ts'
import {
  addOldPartition,
  ended,
  type Partitioned,
  partitionOf,
  partitions,
  startPartitioned,
} from '#test/helpers/partitioned.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept } from '#test/helpers/running-ledger.ts'

const server = await startPostgres(t)
const start = () => startPartitioned(server)

/** How many captures of days that are long over are counted. */
const counted = async (database: Database) => {
  const statement = `select coalesce(sum(completed), 0)::integer as completed from capture_count where day < current_date - 30`
  return (await database.query<{ completed: number }>(statement))[0]?.completed
}

t.test(
  'retention: a partition is dropped once all its captures are over, and they are no longer counted',
  async (t) => {
    const world = await start()
    const { database, ledger, tenant } = world
    await addOldPartition(database)
    const old = [await ended(world, { daysAgo: 98 }), await ended(world, { daysAgo: 103 })]
    const young = await ended(world, { daysAgo: 96 })
    t.equal(await counted(database), 3)
    await database.query('analyze capture')
    t.equal(await removeOldRows(ledger), true, 'there may be another')
    t.same(await Promise.all([...old, young].map((id) => partitionOf(database, id))), [
      undefined,
      undefined,
      'capture_young',
    ])
    t.equal((await partitions(database)).includes('capture_old'), false)
    t.equal(await counted(database), 1)
    t.same(
      ledger.recordedEvents.filter(([name]) => name === 'rowsRemoved'),
      [
        ['rowsRemoved', 'capture', 2],
        ['rowsRemoved', 'capture_count', 2],
      ],
    )
    t.equal(await removeOldRows(ledger), false)
    await accept({ database, tenant })
  },
)

const kept: Readonly<Record<string, (world: Partitioned, id: string) => Promise<unknown>>> = {
  'whose image has not expired': ({ database }, id) =>
    database.query(`update capture set expires_at = now() + interval '1 day' where id = $1`, [id]),
  'that ended late': (world) => ended(world, { daysAgo: 98, endedDaysAgo: 89 }),
  'whose webhook is not delivered': ({ database }, id) =>
    database.query(
      `insert into webhook_delivery (id, account_id, capture_id, url, host, event, next_attempt_at, created_at)
       select gen_random_uuid(), account_id, id, 'https://example.com/', 'example.com', 'screenshot.completed', now(), now()
         from capture where id = $1`,
      [id],
    ),
}
for (const [which, change] of Object.entries(kept)) {
  t.test(
    `retention: a partition with a capture ${which} is kept, and only the captures that are over are removed`,
    async (t) => {
      const world = await start()
      const { database, ledger } = world
      await addOldPartition(database)
      const over = await ended(world, { daysAgo: 103 })
      await change(world, await ended(world, { daysAgo: 103 }))
      t.equal(await dropPartition(database, 90), undefined)
      t.equal(await partitionOf(database, over), 'capture_old')
      await removeOldRows(ledger)
      t.equal(await partitionOf(database, over), undefined)
      t.ok((await partitions(database)).includes('capture_old'))
    },
  )
}

t.test(
  'retention: a partition is not dropped while one of its captures is being deleted, and nothing is counted twice',
  async (t) => {
    const world = await start()
    const { database, tenant } = world
    await addOldPartition(database)
    const [deleted] = [await ended(world, { daysAgo: 100 }), await ended(world, { daysAgo: 100 })]
    await database.transaction(async (sql) => {
      await sql.query('select delete_capture($1, $2)', [deleted, tenant.accountId])
      t.equal(await dropPartition(database, 90), undefined, 'is tried again later')
    })
    t.equal(await counted(database), 1)
    t.not(await dropPartition(database, 90), undefined)
    await removeCaptureCounts(database, 90, 10)
    t.equal(await counted(database), 0)
  },
)

t.test(
  'retention: the counts of a dropped partition are deleted in batches, those of an older one that is kept are not',
  async (t) => {
    const world = await start()
    const { database } = world
    for (const [name, from, to] of [
      ['capture_kept', 110, 105],
      ['capture_gone', 105, 100],
      ['capture_young', 100, 0],
    ] as const) {
      const statement = `do $$ begin execute format('create table ${name} partition of capture_ended for values from (%L) to (%L)',
      least_id(date_trunc('day', now(), 'utc') - interval '${from} days'), least_id(date_trunc('day', now(), 'utc') - interval '${to} days')); end $$`
      await database.query(statement)
    }
    for (const daysAgo of [104, 103, 102]) await ended(world, { daysAgo })
    await ended(world, { daysAgo: 108, expiresInDays: 1 })
    t.equal(await removeCaptureCounts(database, 90, 10), 0, 'the partitions are there')
    t.not(await dropPartition(database, 90), undefined)
    t.same(await partitionOf(database, await ended(world, { daysAgo: 108, expiresInDays: 1 })), 'capture_kept')
    t.same([await removeCaptureCounts(database, 90, 2), await removeCaptureCounts(database, 90, 2)], [2, 1])
    t.same([await removeCaptureCounts(database, 90, 2), await counted(database)], [0, 2])
  },
)

t.test(
  'retention: no partition is dropped while an account is copied here, nor one with a capture that is delivered again',
  async (t) => {
    const world = await start()
    const { database } = world
    await addOldPartition(database)
    const id = await ended(world, { daysAgo: 100 })
    await database.transaction(async (sql) => {
      await sql.query('select from cleanup_cursor for share')
      t.equal(await dropPartition(database, 90), undefined)
    })
    let dropped: Promise<number | undefined> | undefined
    await database.transaction(async (sql) => {
      await sql.query(
        `insert into webhook_delivery (id, account_id, capture_id, url, host, event, next_attempt_at, created_at)
         select gen_random_uuid(), account_id, id, 'https://example.com/', 'example.com', 'screenshot.completed', now(), created_at
           from capture where id = $1`,
        [id],
      )
      // Whoever reads a capture holds its partition so, behind which the drop waits for 200 ms at most.
      dropped = dropPartition(database, 90)
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      await eventually(async () => (await database.query(waiting)).length > 0, { everyMs: 10 })
    })
    t.equal(await dropped, undefined)
    t.equal(await partitionOf(database, id), 'capture_old')
  },
)

t.test('retention: the upload of a capture that was dropped is removed with other deliveries', async (t) => {
  const world = await start()
  const { database } = world
  await addOldPartition(database)
  const id = await ended(world, { daysAgo: 100 })
  await database.query(
    `insert into webhook_delivery (id, account_id, capture_id, upload_destination_id, url, host, event, state, created_at)
     select gen_random_uuid(), account_id, id, gen_random_uuid(), 'https://s3.example/a', 's3.example', 'screenshot.upload', 'delivered',
       created_at from capture where id = $1`,
    [id],
  )
  t.equal(await removeUploads(database, 10), 0, 'the record shows it')
  await dropPartition(database, 90)
  t.equal(await removeUploads(database, 10), 1)
})

t.test('retention: who drops a partition locks its parent before it', async (t) => {
  const { database } = await start()
  await addOldPartition(database)
  const locks = `
    select l.granted, l.relation::regclass::text as relation from pg_locks l
     where l.mode = 'AccessExclusiveLock' and l.relation in ('capture_old'::regclass, 'capture_ended'::regclass)
     order by l.granted`
  await database.transaction(async (sql) => {
    await sql.query('lock table only capture_ended in access share mode')
    let found: object[] = []
    const waits = async () => {
      const dropping = dropPartition(database, 90).catch(() => undefined)
      while (
        found.length === 0 &&
        !(await Promise.race([dropping.then(() => true), sql.query('select 1').then(() => false)]))
      )
        found = await sql.query(locks)
      await dropping
      return found.length > 0
    }
    await eventually(waits, { what: 'a drop that waits' })
    t.strictSame(found, [{ granted: false, relation: 'capture_ended' }])
  })
  t.not(await dropPartition(database, 90), undefined)
})

import t from 'tap'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { countQueue } from '#shared/db/account-queue.ts'
import { admitWaiting } from '#ledger/relay.ts'
import type { Database, Sql } from '#shared/db/connection.ts'
import { countBacklog } from '#shared/db/count-backlog.ts'
import { rowsRead } from '#test/helpers/rows-read.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const accounts = 20_000
const open = 3

/** A database with many accounts without open captures, and three with admitted and waiting ones. */
const openAged = async () => {
  const database = await server.createDatabase()
  const tenants = [await createTenant(database), await createTenant(database), await createTenant(database)]
  const statement = `with made as (
      insert into account (id, name, email, plan, created_at)
      select gen_random_uuid(), 'Gone', 'gone@example.com', (select slug from plan limit 1), now() from generate_series(1, $1)
      returning id)
    insert into lane_meter (account_id, pool, lane) select id, 'standard', 'normal' from made`
  await database.query(statement, [accounts])
  for (const tenant of tenants) {
    for (let n = 0; n < open; n += 1) await acceptCapture(database, tenant.capture(), { windowSize: 1 })
  }
  await database.query('analyze')
  return database
}

/** The number of rows of the table that the work reads. */
const readsOf = (database: Database, table: string, work: (sql: Sql) => Promise<unknown>) =>
  database.transaction(async (sql) => {
    await work(sql)
    return rowsRead(sql, table)
  })

const works: readonly { name: string; work: (sql: Sql) => Promise<unknown> }[] = [
  { name: 'a relay pass', work: (sql) => admitWaiting(sql, { windowSize: 1, limit: 100 }) },
  { name: 'a count of the backlog', work: countBacklog },
  { name: 'a list of the queue', work: countQueue },
]

t.test('lane meters cost: the rows read grow with the open lanes, not with the accounts ever seen', async (t) => {
  const database = await openAged()
  for (const { name, work } of works) {
    const rows = await readsOf(database, 'lane_meter', work)
    t.ok(rows > 0 && rows < 100, `${name} reads ${rows} rows`)
  }
  const scan = await readsOf(database, 'lane_meter', (sql) => sql.query('select sum(admitted) from lane_meter'))
  t.ok(scan >= accounts, 'the test detects a scan')

  t.match(
    (await countBacklog(database)).find(({ pool }) => pool === 'standard'),
    { pending: 3 * open, processing: 0, accepted: 3 * open },
  )
  t.equal((await countQueue(database)).length, 3)
})

t.test(
  'lane meters cost: the oldest capture of a lane is found without reading a large batch that waits in another',
  async (t) => {
    const database = await openAged()
    const batch = `insert into capture
    select (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'lane', 'bulk', 'created_at', c.created_at - interval '1 hour'))).*
      from capture c, generate_series(1, 5000) limit 5000`
    await database.query(batch)
    await database.query('analyze capture')
    const rows = await readsOf(database, 'capture', countBacklog)
    t.ok(rows > 0 && rows < 100, `a count of the backlog reads ${rows} rows`)
    const standard = (await countBacklog(database)).find(({ pool }) => pool === 'standard')
    t.ok(standard && standard.lanes.normal.oldestMs < 3_600_000 && standard.lanes.bulk.oldestMs > 3_600_000)
    t.equal(standard?.oldestMs, standard?.lanes.bulk.oldestMs)
  },
)

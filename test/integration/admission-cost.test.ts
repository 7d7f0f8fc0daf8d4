import t from 'tap'
import { admitWaiting } from '#ledger/relay.ts'
import { onlyRow, type Sql } from '#shared/db/connection.ts'
import { rowsRead } from '#test/helpers/rows-read.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const accounts = 20_000
const lanes = 2000
const eachWaiting = 10
const limit = 100

/** 20,000 accounts, of which 2,000 have ten captures each that wait for room. */
const openWaiting = async () => {
  const database = await server.createDatabase()
  await createTenant(database)
  await database.query(
    `insert into account (id, name, email, plan, created_at)
     select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'Many', 'many@example.com',
            (select slug from plan order by slug limit 1), now() from generate_series(1, $1::integer) as n`,
    [accounts],
  )
  await database.query(`insert into account_meter (account_id) select id from account on conflict do nothing`)
  await database.query(
    `insert into lane_meter (account_id, pool, lane, waiting)
     select id, 'standard', 'normal', $2 from account order by id limit $1`,
    [lanes, eachWaiting],
  )
  await database.query(
    `insert into outbox (capture_id, account_id, pool, lane, created_at)
     select gen_random_uuid(), account_id, pool, lane, now() - n * interval '1 second'
       from lane_meter cross join generate_series(1, $1::integer) as n`,
    [eachWaiting],
  )
  await database.query('vacuum analyze')
  return database
}

type Plan = { readonly Plan: { readonly 'WAL Bytes'?: number } }

/** Rows of the tables that this transaction has locked or changed. */
const touched = async (sql: Sql): Promise<number> => {
  const mine = `pg_current_xact_id()::xid in (xmin, xmax)`
  const counts = ['outbox', 'account_meter', 'lane_meter'].map((each) => `(select count(*) from ${each} where ${mine})`)
  return onlyRow(await sql.query<{ rows: number }>(`select (${counts.join(' + ')})::integer as rows`)).rows
}

t.test('admission cost: locks, changes and reads follow what is admitted, not all who wait', async (t) => {
  const database = await openWaiting()
  await database.transaction(async (sql) => {
    const before = { accounts: await rowsRead(sql, 'account'), captures: await rowsRead(sql, 'outbox') }
    const statement = `explain (analyze, wal, format json) select admit_waiting(16, ${limit})`
    const explained = onlyRow(await sql.query<{ 'QUERY PLAN': readonly Plan[] }>(statement))
    const read = {
      accounts: (await rowsRead(sql, 'account')) - before.accounts,
      captures: (await rowsRead(sql, 'outbox')) - before.captures,
    }
    const rows = await touched(sql)
    const walBytes = explained['QUERY PLAN'][0]?.Plan['WAL Bytes'] ?? Infinity
    t.comment({ rows, walBytes, read })
    t.ok(rows < 1000, `${rows} rows are locked or changed`)
    t.ok(walBytes < 100_000, `${walBytes} bytes of WAL are written`)
    t.ok(read.accounts <= lanes, `${read.accounts} accounts are read`)
    t.ok(read.captures < 3 * lanes, `${read.captures} waiting captures are read`)
  })
  t.equal(await admitWaiting(database, { windowSize: 16, limit }), limit, 'the next pass goes on')
  const most = `select max(admitted) as most from lane_meter`
  t.equal(onlyRow(await database.query<{ most: number }>(most)).most, 1, 'one of each account comes first')
})

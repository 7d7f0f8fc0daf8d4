import t from 'tap'
import { startPostgres } from '#test/helpers/postgres.ts'

const server = await startPostgres(t)

t.test('partitions: days have 24 hours and begin at midnight in UTC, also where clocks are changed', async (t) => {
  const database = await server.createDatabase()
  await database.query(`do $$ declare p text; begin
    for p in select part from capture_partitions() loop execute format('drop table %I', p); end loop; end $$`)
  await database.query(`create schema clock`)
  await database.query(`create function clock.now() returns timestamptz language sql stable as
    $$ select timestamptz '2026-03-28T23:30Z' $$`)
  const edges = await database.transaction(async (sql) => {
    // The hour from 1:00 in UTC on is left out on 29 March.
    await sql.query(`set local time zone 'Europe/Berlin'`)
    await sql.query('set local search_path = clock, public, pg_catalog')
    await sql.query('select keep_captures(1)')
    const rows = await sql.query<{ edge: string }>('select iso_time(ends_at) as edge from capture_partitions()')
    return rows.map(({ edge }) => new Date(edge).toISOString())
  })
  const days = Array.from({ length: 8 }, (_, day) => new Date(Date.UTC(2026, 2, 29 + day)).toISOString())
  t.same(edges, days)
})

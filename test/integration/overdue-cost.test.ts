import t from 'tap'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { findOverdue } from '#ledger/db/find-stuck.ts'
import { rowsRead } from '#test/helpers/rows-read.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const running = 2000

/** Captures that run in time, three that are past their deadline and one that was handed back an hour ago. */
const openRunning = async () => {
  const database = await server.createDatabase()
  const tenant = await createTenant(database)
  await acceptCapture(database, tenant.capture(), { windowSize: 16 })
  await database.query(
    `insert into capture select (jsonb_populate_record(c, jsonb_build_object(
         'id', gen_random_uuid(), 'status', 'processing', 'attempts', 1, 'unended_starts', n.unended, 'budget_ms', 60000,
         'created_at', now() - n.age * interval '1 second', 'attempt_started_at', now() - n.ran * interval '1 second'))).*
       from capture c cross join (
         select 1 as unended, 10 as age, 10 as ran from generate_series(1, $1::integer)
         union all select 1, 100, 60 + late from generate_series(1, 3) as late
         union all select 0, 3600, 20) as n`,
    [running],
  )
  await database.query('vacuum analyze capture')
  return database
}

t.test('overdue cost: the rows read follow what is overdue, not what runs', async (t) => {
  const database = await openRunning()
  await database.transaction(async (sql) => {
    const bounds = { marginMs: 0, longestWaitSeconds: 1800, limit: 2 }
    const first = await findOverdue(sql, bounds)
    t.match(first, [{ ageSeconds: Number, unendedStarts: 1 }, { unendedStarts: 1 }])
    const rest = await findOverdue(sql, { ...bounds, after: first.at(-1) })
    t.strictSame(
      rest.map(({ unendedStarts }) => unendedStarts),
      [1, 0],
      'the next page has the last of the overdue and the one handed back',
    )
    t.strictSame(await findOverdue(sql, { ...bounds, after: rest.at(-1) }), [])
    const rows = await rowsRead(sql, 'capture')
    t.ok(rows > 0 && rows < 100, `${rows} rows are read`)
  })
})

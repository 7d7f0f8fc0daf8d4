import t from 'tap'
import { startPostgres } from '#test/helpers/postgres.ts'

const server = await startPostgres(t)

t.test('kept statements: a statement is prepared once per connection, and runs if the session lost it', async (t) => {
  const database = await server.createDatabase(2)
  const ask = () => database.query<{ sum: number }>('select $1::integer + 1 as sum', [1], 'keep')
  const prepared = () =>
    database.query<{ calls: number }>(
      `select (generic_plans + custom_plans)::integer as calls from pg_prepared_statements where statement like '% as sum'`,
    )
  t.same(await ask(), [{ sum: 2 }])
  t.same(await ask(), [{ sum: 2 }])
  t.same(await prepared(), [{ calls: 2 }])
  await database.query('deallocate all')
  t.same(await ask(), [{ sum: 2 }])
  t.same(await prepared(), [])
})

t.test('kept statements: a statement runs after its columns have changed, and reports its own errors', async (t) => {
  const database = await server.createDatabase(2)
  await database.query('create table changing (value integer)')
  await database.query('insert into changing values (1)')
  const ask = () => database.query('select * from changing', [], 'keep')
  t.same(await ask(), [{ value: 1 }])
  await database.query('alter table changing alter column value type text')
  t.same(await ask(), [{ value: '1' }])
  await t.rejects(database.query('select 1 / $1::integer', [0], 'keep'), { code: 'SERVER_ERROR' })
})

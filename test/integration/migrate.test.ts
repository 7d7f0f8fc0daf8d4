import t from 'tap'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { migrate } from '#shared/db/migrate.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)

t.test('schema: an older release refuses that of a newer one, and changes nothing of it', async (t) => {
  const database = await server.createDatabase()
  await database.query(`insert into mikro_orm_migrations (name, executed_at) values ('9999-of-tomorrow', now())`)
  await database.query(`update sql_function set sha256 = 'newer' where name = 'accept-capture'`)
  await t.rejects(migrate(database), { code: 'CONFIGURATION', message: /newer release \(9999-of-tomorrow\)/ })
  t.same(await database.query(`select sha256 from sql_function where name = 'accept-capture'`), [{ sha256: 'newer' }])
  await database.query(`delete from mikro_orm_migrations where name = '9999-of-tomorrow'`)
  t.same(await migrate(database), ['accept-capture'], 'its own is brought up to date')
})

t.test('schema: captures are accepted without an error while functions are replaced', async (t) => {
  const database = await server.createDatabase()
  const tenant = await createTenant(database)
  const replaced = new AbortController()
  let accepted = 0
  const acceptAll = async () => {
    while (!replaced.signal.aborted) {
      const outcome = await acceptCapture(database, tenant.capture(), { windowSize: 16 })
      if (!outcome.ok) throw new Error(outcome.code)
      accepted += 1
    }
  }
  const accepting = Promise.all(Array.from({ length: 4 }, acceptAll))
  const replacing = async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const enough = accepted + 20
      await eventually(() => accepted >= enough, { what: 'captures are accepted' })
      await database.query(`update sql_function set sha256 = 'older'`)
      t.ok((await migrate(database)).length > 10, 'all are replaced')
    }
  }
  await Promise.race([replacing(), accepting]).finally(() => replaced.abort())
  await accepting
  t.ok(accepted >= 100, `${accepted} accepted`)
})

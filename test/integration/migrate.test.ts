import t from 'tap'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import { migrate } from '#shared/db/migrate.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { migrateToNext } from '#test/helpers/next-release.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const failure = { status: 'failed', code: 'TIMEOUT', message: 'slow' } as const

t.test('schema: an older release rejects the schema of a newer one without changing it', async (t) => {
  const database = await server.createDatabase()
  await database.query(`insert into mikro_orm_migrations (name, executed_at) values ('9999-of-tomorrow', now())`)
  await database.query(`update sql_function set sha256 = 'newer' where name = 'accept-capture'`)
  await t.rejects(migrate(database), { code: 'CONFIGURATION', message: /newer release \(9999-of-tomorrow\)/ })
  t.same(await database.query(`select sha256 from sql_function where name = 'accept-capture'`), [{ sha256: 'newer' }])
  await database.query(`delete from mikro_orm_migrations where name = '9999-of-tomorrow'`)
  t.same(await migrate(database), ['accept-capture'], 'its own function is updated')
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
      await eventually(() => accepted >= enough, { what: '20 more captures are accepted' })
      await database.query(`update sql_function set sha256 = 'older'`)
      t.ok((await migrate(database)).length > 10, 'all functions are replaced')
    }
  }
  await Promise.race([replacing(), accepting]).finally(() => replaced.abort())
  await accepting
  t.ok(accepted >= 100, `${accepted} accepted`)
})

t.test(
  'schema: captures are accepted, begin and end while the next release migrates, and after it; none is lost',
  async (t) => {
    const database = await server.createDatabase()
    const tenant = await createTenant(database)
    const stopping = new AbortController()
    let ended = 0
    const captureAll = async () => {
      while (!stopping.signal.aborted) {
        const capture = tenant.capture()
        const outcome = await acceptCapture(database, capture, { windowSize: 16 })
        if (!outcome.ok) throw new Error(outcome.code)
        const counts = { attempts: 1, unendedStarts: 1 }
        for (const change of [
          { ...counts, begins: true },
          { ...counts, begins: false, end: failure },
        ])
          await changeCaptures(database, [capture.id], () => ({ change }))
        ended += 1
      }
    }
    const capturing = Promise.all(Array.from({ length: 4 }, captureAll))
    const untilMore = (enough = ended + 20) => eventually(() => ended >= enough, { what: '20 more captures end' })
    const migrating = async () => {
      await untilMore()
      const migrations = { '9001-expand': `alter table capture add column expanded text not null default ''` }
      t.same(await migrateToNext(database.url, migrations), ['9001-expand', 'accept-capture'])
      await untilMore()
    }
    await Promise.race([migrating(), capturing]).finally(() => stopping.abort())
    await capturing
    t.same(await database.query('select status, expanded, count(*)::integer as captures from capture group by 1, 2'), [
      { status: 'failed', expanded: '', captures: ended },
    ])
    await t.rejects(migrate(database), { code: 'CONFIGURATION', message: /newer release \(9001-expand\)/ })
  },
)

t.test('schema: if a migration fails, those before it stay, and the next try goes on', async (t) => {
  const database = await server.createDatabase()
  const [first, second] = ['create table made (n integer)', 'insert into made values (1)']
  const failing = { '9001-first': first, '9002-second': `${second}; select 1 / 0` }
  await t.rejects(migrateToNext(database.url, failing), /division by zero/)
  t.same(await database.query('select n from made'), [])
  const mended = { '9001-first': first, '9002-second': second }
  t.same(await migrateToNext(database.url, mended), ['9002-second', 'accept-capture'])
  t.same(await migrateToNext(database.url, mended), [])
  t.same(await database.query('select n from made'), [{ n: 1 }])
})

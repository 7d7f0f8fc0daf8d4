import { randomUUID } from 'node:crypto'
import t from 'tap'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { migrate } from '#shared/db/migrate.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)

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

t.test('schema: functions accept the positional calls of the previous release', async (t) => {
  const database = await server.createDatabase()
  const { keyHash, capture } = await createTenant(database)
  const { id, pool, lane, url, options, sealed, tokenHash, budgetMs } = capture()
  const one = [keyHash, null, [], false, 16, 2000, id, pool, lane, url, options, sealed, tokenHash, budgetMs]
  const optional = [false, 'https://example.com/told', null, null, 'key', Buffer.from('request'), null, 'traceparent']
  const places = (count: number) => Array.from({ length: count }, (_, place) => `$${place + 1}`).join(', ')
  const accepted = await database.query(`select refusal, replay_of from accept_capture(${places(22)})`, [
    ...one,
    ...optional,
  ])
  t.same(accepted, [{ refusal: null, replay_of: null }])
  const stored = { webhook_url: 'https://example.com/told', traceparent: 'traceparent', url, token_hash: tokenHash }
  t.match(await database.query('select * from capture where id = $1', [id]), [stored])
  t.match(await database.query('select capture_id from idempotency_key where key = $1', ['key']), [{ capture_id: id }])

  const [batchId, memberId] = [randomUUID(), randomUUID()]
  const batch = [keyHash, null, [], 16, 2000, false, batchId, pool, lane, budgetMs, null, null, null, null]
  const members = [[memberId], [url], [JSON.stringify(options)], [sealed], [tokenHash], [null], 'traceparent']
  const admitted = await database.query(`select refusal, admitted_ids from accept_batch(${places(21)})`, [
    ...batch,
    ...members,
  ])
  t.same(admitted, [{ refusal: null, admitted_ids: [memberId] }])
  t.match(await database.query('select * from capture where batch_id = $1', [batchId]), [{ id: memberId, url }])
})

import t from 'tap'
import { removeExpiredRows } from '#ledger/remove-expired-rows.ts'
import type { Database } from '#shared/db/connection.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { readWhole } from '#test/helpers/read-whole.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)

/** Deliveries of the last days that are kept: of webhooks, and of uploads to ten destinations. */
const fill = async (database: Database, accountId: string, rows: number) => {
  await database.query(
    `insert into webhook_delivery (id, account_id, capture_id, upload_destination_id, url, host, event, state, created_at)
     select gen_random_uuid(), $1, gen_random_uuid(), case when n % 2 = 0 then md5((n % 20)::text)::uuid end, '', '', '', 'delivered',
            now() - n * interval '1 minute'
       from generate_series(1, $2::integer) as n`,
    [accountId, rows],
  )
  await database.query('analyze webhook_delivery')
}

t.test('retention: what is over is found by indexes, however many deliveries are kept', async (t) => {
  const database = await server.createDatabase()
  const { accountId } = await createTenant(database)
  await fill(database, accountId, 20_000)
  const readsAll = async () => {
    const remove = (environment: Database) =>
      removeExpiredRows({ database: environment, events: { rowsRemoved: () => {} } })
    return (await readWhole(database, remove)).includes('webhook_delivery')
  }
  t.notOk(await readsAll())
  for (const index of ['webhook_delivery_age', 'webhook_delivery_upload']) {
    const setValid = 'update pg_index set indisvalid = $2 where indexrelid = $1::regclass'
    await database.query(setValid, [index, false])
    t.ok(await readsAll(), `the test detects that ${index} is missing`)
    await database.query(setValid, [index, true])
  }
})

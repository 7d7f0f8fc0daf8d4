import { randomUUID } from 'node:crypto'
import t from 'tap'
import { describeAccount } from '#gateway/db/describe-account.ts'
import { countedMax, listCaptures } from '#gateway/db/list-captures.ts'
import { openDatabase } from '#shared/db/connection.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { storeCaptures } from '#test/helpers/stored-captures.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const database = await server.createDatabase()

const counts = (accountId: string) =>
  database.query(`select day::text, completed, failed from capture_count where account_id = $1 order by day`, [
    accountId,
  ])

const remove = (ids: readonly string[]) =>
  database.transaction(async (sql) => {
    await sql.query('select from capture where id = any ($1) order by id for update', [ids])
    await sql.query('select uncount_ended(array(select c from capture c where id = any ($1::uuid[])))', [ids])
    await sql.query('delete from capture where id = any ($1)', [ids])
  })

t.test('capture count: ended captures are counted by UTC day of acceptance, until they are deleted', async (t) => {
  const { accountId } = await createTenant(database)
  const stored = async (createdAt: string, more = {}) =>
    storeCaptures(database, { accountId, count: 2, createdAt, ...more })
  const late = await stored('2026-01-01T23:59:58+00')
  const early = await stored('2026-01-02T01:00:00+02', { status: 'failed' })
  const next = await stored('2026-01-02T00:00:00+00')
  const open = [
    ...(await stored('2026-01-02T00:00:00+00', { status: 'pending' })),
    ...(await stored('2026-01-03', { status: 'processing' })),
  ]
  t.same(await counts(accountId), [
    { day: '2026-01-01', completed: 2, failed: 2 },
    { day: '2026-01-02', completed: 2, failed: 0 },
  ])
  await remove([...late.slice(1), ...early, ...open, randomUUID()])
  t.same(await counts(accountId), [
    { day: '2026-01-01', completed: 1, failed: 0 },
    { day: '2026-01-02', completed: 2, failed: 0 },
  ])
  await remove([...late, ...next])
  t.same(await counts(accountId), [], 'a day without captures has no row')
})

t.test('capture count: captures of a deleted account are not counted when they end', async (t) => {
  const { accountId } = await createTenant(database)
  const [id] = await storeCaptures(database, { accountId, count: 1 })
  await database.query('delete from account where id = $1', [accountId])
  t.same(await counts(accountId), [], 'its counts are deleted too')
  await database.query('select count_ended(array(select c from capture c where c.id = any ($1)))', [[id]])
  t.same(await counts(accountId), [])
})

t.test('capture count: counts stay exact under concurrent counting and deletion', async (t) => {
  const tenants = [await createTenant(database), await createTenant(database)]
  const stored = await Promise.all(
    Array.from({ length: 16 }, (_, turn) =>
      storeCaptures(database, {
        accountId: tenants[turn % 2]!.accountId,
        count: 10,
        status: turn % 3 === 0 ? 'failed' : 'completed',
      }),
    ),
  )
  await Promise.all(
    stored.map((ids, turn) => remove([...ids.slice(0, 3), ...(stored[(turn + 1) % 16] ?? []).slice(3, 4)])),
  )
  const rows = `select account_id, count(*) filter (where status = 'completed')::integer as completed,
    count(*) filter (where status = 'failed')::integer as failed from capture join account_meter using (account_id)
    group by 1 order by 1`
  const counted = 'select account_id, completed, failed from capture_count order by 1'
  t.same(await database.query(counted), await database.query(rows))
  t.equal((await database.query('select from capture')).length > 90, true)
})

t.test('capture count: page, total and filters use an index, however many captures an account has', async (t) => {
  const { accountId } = await createTenant(database)
  // Tens of thousands of rows take longer than a statement may on a busy machine.
  await using patient = openDatabase({ url: database.url, poolMax: 2, statementMs: 120_000 })
  await storeCaptures(patient, { accountId, count: countedMax + 2000 })
  await storeCaptures(patient, { accountId, count: 3, status: 'pending' })
  await storeCaptures(patient, { accountId, count: 30, status: 'failed' })
  const other = await createTenant(database)
  await storeCaptures(patient, { accountId: other.accountId, count: 20_000 })
  await storeCaptures(patient, { accountId: other.accountId, count: 2000, status: 'pending' })
  await patient.query('vacuum analyze capture')
  // What the statement read, by index or not. It is run often enough for PostgreSQL to have settled on a plan.
  const readBy = (filter: object) =>
    patient.transaction(async (sql) => {
      const list = () => listCaptures(sql, { accountId, ...filter }, { start: { skip: 0 }, limit: 20 })
      for (let runs = 0; runs < 6; runs += 1) await list()
      // Of this session, since it told the others of what it read before.
      const statement = `select relname::text as part, coalesce(seq_tup_read, 0)::integer as scanned,
        coalesce(idx_tup_fetch, 0)::integer as fetched from pg_stat_xact_user_tables
        where relname like 'capture\\_%' and relname <> 'capture_count'`
      type Read = { part: string; scanned: number; fetched: number }
      const before = await sql.query<Read>(statement)
      const page = await list()
      const read = (await sql.query<Read>(statement)).flatMap(({ part, scanned, fetched }) => {
        const was = before.find((each) => each.part === part) ?? { scanned: 0, fetched: 0 }
        const more = { scanned: scanned - was.scanned, fetched: fetched - was.fetched }
        return more.scanned + more.fetched > 0 ? [{ part, ...more }] : []
      })
      return { page, read }
    })
  const cases = [
    [{}, { total: countedMax + 2030, totalIsEstimated: true }, ['capture_ended_other', 'capture_open']],
    [{ status: 'pending' }, { total: 3 }, ['capture_open']],
    [{ status: 'failed' }, { total: 30 }, ['capture_ended_other']],
  ] as const
  for (const [filter, page, parts] of cases) {
    const { read, ...listed } = await readBy(filter)
    t.match(listed, { page })
    t.same(read.map(({ part }) => part).toSorted(), parts)
    for (const { scanned, fetched } of read)
      t.ok(scanned === 0 && fetched < 200, `${fetched} rows read, ${scanned} not by index`)
  }
})

// Contract: Account
t.test('capture count: an account is described with its plan in force', async (t) => {
  const prices = { overage_price: '0.0090', price_monthly: '29.90', currency: 'USD' }
  const { accountId } = await createTenant(database, { ...prices, rate_limit_per_minute: 7, retention_seconds: 5400 })
  t.match(await describeAccount(database, accountId), {
    id: accountId,
    email: 't@example.com',
    plan: { ...prices, price_yearly: '299.00', rate_limit_per_minute: 7, retention_hours: 1.5 },
    subscription: null,
  })
  t.equal(await describeAccount(database, randomUUID()), undefined)
})

// Contract: Account
t.test('capture count: values that a plan does not set are null', async (t) => {
  const { accountId } = await createTenant(database)
  const missing = ['screenshots_per_month', 'rate_limit_per_minute', 'overage_price', 'max_api_keys', 'price_monthly']
  const { plan } = (await describeAccount(database, accountId))!
  t.same(
    Object.entries(plan).flatMap(([name, value]) => (value === null ? [name] : [])),
    [...missing, 'price_yearly', 'currency'],
  )
  t.same([plan.retention_hours, plan.features], [1, ['retina', 'pdf']])
})

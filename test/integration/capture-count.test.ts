import { randomUUID } from 'node:crypto'
import t from 'tap'
import { describeAccount } from '#gateway/db/describe-account.ts'
import { countedMax, listCaptures } from '#gateway/db/list-captures.ts'
import { openDatabase, type Sql } from '#shared/db/connection.ts'
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
    await sql.query('select uncount_ended($1)', [ids])
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
  await database.query('select count_ended($1)', [[id]])
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
  const planOf = async (filter: object) => {
    const lines: string[] = []
    const explained: Sql = {
      query: async (text, parameters) => {
        const plan = await database.query<Record<string, string>>(`explain (analyze, costs off) ${text}`, parameters)
        lines.push(...plan.map((line) => line['QUERY PLAN'] ?? ''))
        return database.query(text, parameters)
      },
    }
    const page = await listCaptures(explained, { accountId, ...filter }, { start: { skip: 0 }, limit: 20 })
    return { page, plan: lines.filter((line) => line.includes(' on capture')).join('\n') }
  }
  const all = await planOf({})
  t.match(
    all.plan,
    /Index Scan using capture_ended_other_account_id_created_at_id_idx on capture_ended_other .*rows=21/,
  )
  t.match(all.plan, /never executed/, 'rows are not counted if the daily counts are enough')
  t.match(all.page, { total: countedMax + 2030, totalIsEstimated: true })
  const pending = await planOf({ status: 'pending' })
  t.match(pending.plan, / on capture_open .*rows=3/)
  const failed = await planOf({ status: 'failed' })
  t.match(
    failed.plan,
    /capture_ended_other_account_id_status_created_at_id_idx on capture_ended_other .*rows=(?:21|30)/,
  )
  t.match(failed.plan, /capture_ended_other_account_id_status_created_at_id_idx .*rows=30/, 'counted in the same index')
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

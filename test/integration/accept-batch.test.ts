import { createHash, randomUUID } from 'node:crypto'
import t from 'tap'
import { acceptBatch, type AcceptBatchOutcome, type NewBatch } from '#gateway/db/accept-batch.ts'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { deleteCapture } from '#gateway/db/captures.ts'
import { findBatch } from '#gateway/db/find-batch.ts'
import { advanceCapture } from '#test/helpers/advance-capture.ts'
import { meterDifferences } from '#test/helpers/meter-differences.ts'
import { testRecords } from '#test/helpers/record-seal.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant, type Tenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const database = await server.createDatabase(20)

const newBatch = (tenant: Tenant, size: number, more: Partial<NewBatch> = {}): NewBatch => {
  const { id: _, ...common } = tenant.capture({ lane: 'bulk' })
  const members = Array.from({ length: size }, (__, n) => tenant.capture({ url: `https://example.com/${n}` }))
  return { ...common, id: randomUUID(), members, ...more }
}
const accept = (batch: NewBatch, windowSize = 16) => acceptBatch(database, batch, { windowSize })
const errorCode = (outcome: AcceptBatchOutcome) => (outcome.ok ? 'ok' : outcome.code)
const find = async (tenant: Tenant, id: string) =>
  (await findBatch({ database, records: testRecords }, { id, accountId: tenant.accountId }))!
const readRows = async ({ accountId }: Tenant) => {
  const counts = ['capture', 'outbox', 'batch', 'idempotency_key'].map(
    async (table) => (await database.query(`select from ${table} where account_id = $1`, [accountId])).length,
  )
  return await Promise.all(counts)
}
const change = (id: string, to: 'processing' | 'completed' | 'failed') => advanceCapture(database, id, to)

// Contract: Batch request
// Contract: Batch response
t.test('accept batch: a batch is one request and a capture per member, in input order', async (t) => {
  const tenant = await createTenant(database, { rate_limit_per_minute: 1000, screenshots_per_month: 100 })
  const batch = newBatch(tenant, 20)
  const outcome = await accept(batch)
  t.match(outcome, { ok: true, admitted: false, caller: { rate: { remaining: 999 }, usage: { remaining: 80 } } })
  t.same(
    outcome.admittedIds,
    batch.members.slice(0, 16).map(({ id }) => id),
    'the first have room in the window, the others wait',
  )
  t.same(await readRows(tenant), [20, 20, 1, 0])
  const found = await find(tenant, batch.id)
  t.match(found, { id: batch.id, total: 20, processing: 0, completed: 0, failed: 0, created_at: /Z$/ })
  t.same(
    found.screenshots.map(({ index, id, url, status }) => [index, id, url, status]),
    batch.members.map(({ id, url }, index) => [index, id, url, 'pending']),
  )
  const order = 'select capture_id as id from outbox where account_id = $1 order by created_at'
  t.same(
    await database.query(order, [tenant.accountId]),
    batch.members.map(({ id }) => ({ id })),
  )
  const [meter] = await database.query('select pool, lane, admitted, waiting from lane_meter where account_id = $1', [
    tenant.accountId,
  ])
  t.same(meter, { pool: 'standard', lane: 'bulk', admitted: 16, waiting: 4 })
  const later = await accept(newBatch(tenant, 2))
  t.match(later, { admitted: false, admittedIds: [] }, 'no capture passes an older one that waits')
  t.equal(
    await findBatch(
      { database, records: testRecords },
      { id: batch.id, accountId: (await createTenant(database)).accountId },
    ),
    undefined,
  )
  t.same(await database.query(meterDifferences), [])
})

// Contract: Scopes of keys
t.test('accept batch: a key that may not capture is refused by the statement itself', async (t) => {
  const tenant = await createTenant(database)
  await database.query(`update api_key set scopes = '{read,manage}' where account_id = $1`, [tenant.accountId])
  t.match(await accept(newBatch(tenant, 2)), { ok: false, code: 'FORBIDDEN', grounds: ['capture'] })
  t.same(await readRows(tenant), [0, 0, 0, 0])
})

// Contract: Batch request
t.test('accept batch: at the edge of quota and queue bound, a batch is accepted whole or not at all', async (t) => {
  for (const [limits, refused] of [
    [{ screenshots_per_month: 25 }, 'USAGE_LIMIT_EXCEEDED'],
    [{ max_pending: 25 }, 'QUEUE_FULL'],
  ] as const) {
    const tenant = await createTenant(database, limits)
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => accept(newBatch(tenant, 10))))
    const codes = outcomes.map(errorCode).toSorted()
    t.same(codes, [...Array.from({ length: 6 }, () => refused), 'ok', 'ok'].toSorted())
    t.same(await readRows(tenant), [20, 20, 2, 0])
    const key = { key: 'k', requestSha256: Buffer.alloc(32) }
    t.equal(errorCode(await accept(newBatch(tenant, 6, { idempotency: key }))), refused, 'one more than what is left')
    t.same(await readRows(tenant), [20, 20, 2, 0])
    t.equal(errorCode(await accept(newBatch(tenant, 5))), 'ok', 'as many as are left')
    t.same(await database.query(meterDifferences), [])
  }
  const none = await createTenant(database, { screenshots_per_month: 3 })
  t.equal(errorCode(await accept(newBatch(none, 4))), 'USAGE_LIMIT_EXCEEDED', 'more than the whole quota')
  const over = await createTenant(database, { screenshots_per_month: 1, overage_price: '0.01' })
  t.match(await accept(newBatch(over, 4)), { ok: true, caller: { usage: { overage: 3 } } })
})

t.test(
  'accept batch: members share results as single captures do; equal members are one capture and one charge',
  async (t) => {
    const own = await createTenant(database, { screenshots_per_month: 3, max_pending: 2 })
    const sharing = (text: string) => ({ key: createHash('sha256').update(text).digest(), seconds: 60 })
    const single = async (text: string) => {
      const capture = own.capture({ sharing: sharing(text) })
      await acceptCapture(database, capture, { windowSize: 16 })
      return capture.id
    }
    await change(await single('done'), 'completed')
    const leader = await single('runs')
    const batch = newBatch(own, 4, { cacheSeconds: 60 })
    const keys = ['done', 'runs', 'done', 'new']
    const members = batch.members.map((member, n) => ({ ...member, cacheKey: sharing(keys[n]!).key }))
    const outcome = await accept({ ...batch, members })
    t.match(outcome, { ok: true, admitted: true, admittedIds: [members[3]!.id], caller: { usage: { remaining: 0 } } })
    t.match(await find(own, batch.id), { total: 4, completed: 2 })
    await change(leader, 'failed')
    t.match(await find(own, batch.id), { completed: 2, failed: 1 })
    await change(members[3]!.id, 'completed')
    const all = await accept(
      newBatch(own, 2, {
        cacheSeconds: 60,
        members: members.slice(2).map((member) => ({ ...member, id: randomUUID() })),
      }),
    )
    t.match(all, { ok: true, admitted: true, admittedIds: [] }, 'a batch of shared results needs no quota')

    const equal = await createTenant(database, { screenshots_per_month: 2 })
    const twice = newBatch(equal, 3, { cacheSeconds: 60 })
    const same = twice.members.map((member, n) => ({ ...member, cacheKey: sharing(n === 1 ? 'other' : 'twice').key }))
    t.match(await accept({ ...twice, members: same }), { ok: true, admittedIds: [same[0]!.id, same[1]!.id] })
    await change(same[0]!.id, 'completed')
    t.match(await find(equal, twice.id), { total: 3, completed: 2 })
    await change(same[1]!.id, 'failed')
    t.match(await find(equal, twice.id), { completed: 2, failed: 1 })
    t.same(await database.query(meterDifferences), [])
  },
)

// Contract: Batch status
t.test('accept batch: a batch counts its started and ended captures; deleted captures stay counted', async (t) => {
  const tenant = await createTenant(database)
  const batch = newBatch(tenant, 4)
  await accept(batch)
  const ids = batch.members.map(({ id }) => id)
  await change(ids[0]!, 'processing')
  await change(ids[1]!, 'processing')
  t.match(await find(tenant, batch.id), { processing: 2, completed: 0, failed: 0 })
  await change(ids[0]!, 'completed')
  await change(ids[2]!, 'failed')
  t.match(await find(tenant, batch.id), { processing: 1, completed: 1, failed: 1 })
  t.same(
    (await find(tenant, batch.id)).screenshots.map(({ status }) => status),
    ['completed', 'processing', 'failed', 'pending'],
  )
  t.same(await database.query(meterDifferences), [])
  await database.query('delete from capture where id = $1', [ids[0]])
  const after = await find(tenant, batch.id)
  t.match([after.total, after.completed, after.screenshots.map(({ index }) => index)], [4, 1, [1, 2, 3]])
})

t.test('accept batch: deleting the last running captures ends the batch and sends batch.completed once', async (t) => {
  const tenant = await createTenant(database)
  await database.query(
    `insert into webhook (id, account_id, url, events, description, active, created_at)
     values ($1, $2, 'https://a.example/', '{batch.completed,screenshot.failed}', '', true, now())`,
    [randomUUID(), tenant.accountId],
  )
  const batch = newBatch(tenant, 3)
  await accept(batch)
  await change(batch.members[0]!.id, 'completed')
  await change(batch.members[1]!.id, 'processing')
  for (const { id } of batch.members.slice(1)) await deleteCapture(database, { id, accountId: tenant.accountId })
  t.match(
    await database.query('select event, subject from webhook_delivery where account_id = $1', [tenant.accountId]),
    [{ event: 'batch.completed', subject: { id: batch.id, total: 3, completed: 1, failed: 2 } }],
  )
})

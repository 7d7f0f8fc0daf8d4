import { createHash, randomUUID } from 'node:crypto'
import t from 'tap'
import { acceptBatch, type NewBatch } from '#gateway/db/accept-batch.ts'
import { acceptCapture, type AcceptOutcome } from '#gateway/db/accept-capture.ts'
import { removeIdempotencyKeys } from '#ledger/remove-expired-rows.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant, type Tenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const database = await server.createDatabase(25)
const windowSize = 16
const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work))
const sha256 = (body: string) => createHash('sha256').update(body).digest()
const under = (key: string, body = 'body') => ({ idempotency: { key, requestSha256: sha256(body) } })

const accept = async (tenant: Tenant, more: Parameters<Tenant['capture']>[0] = {}) => {
  const capture = tenant.capture(more)
  return { id: capture.id, outcome: await acceptCapture(database, capture, { windowSize }) }
}
const newBatch = (tenant: Tenant, more: Partial<NewBatch>): NewBatch => {
  const { id: _, ...common } = tenant.capture()
  return { ...common, id: randomUUID(), members: [tenant.capture(), tenant.capture()], ...more }
}
const replayedId = (outcome: AcceptOutcome) => (outcome.ok ? outcome.replayOf : outcome.code)
const countRows = async (table: string, { accountId }: Tenant) =>
  (await database.query(`select from ${table} where account_id = $1`, [accountId])).length

// Contract: Order of checks
// Contract: Idempotency
t.test('accept replay: of concurrent requests with one key one is accepted; the others replay it', async (t) => {
  const tenant = await createTenant(database, { screenshots_per_month: 1, max_pending: 1 })
  const all = await times(20, () => accept(tenant, under('key')))
  const [first, ...more] = all.filter(({ outcome }) => outcome.ok && outcome.replayOf === undefined)
  t.same([first !== undefined, more], [true, []])
  const replays = all.filter((each) => each !== first)
  t.same(new Set(replays.map(({ outcome }) => replayedId(outcome))), new Set([first!.id]))
  t.same([await countRows('capture', tenant), await countRows('outbox', tenant)], [1, 1])
  t.same(await database.query('select reserved::integer from usage where account_id = $1', [tenant.accountId]), [
    { reserved: 1 },
  ])
  t.match(
    replays[0]!.outcome,
    { admitted: false, caller: { usage: { remaining: 0 } } },
    'not refused for quota or queue',
  )
})

// Contract: Order of checks
// Contract: Idempotency
t.test(
  'accept replay: a different request under a used key is rejected after key, limit and plan, before quota and queue',
  async (t) => {
    const tenant = await createTenant(database, { screenshots_per_month: 1, max_pending: 1 })
    await accept(tenant, under('key'))
    t.match((await accept(tenant, under('key', 'other'))).outcome, { ok: false, code: 'IDEMPOTENCY_MISMATCH' })
    t.match((await accept(tenant, { ...under('key', 'other'), features: ['stealth'] })).outcome, {
      code: 'FEATURE_NOT_AVAILABLE',
    })
    t.equal(replayedId((await accept(await createTenant(database), under('key', 'other'))).outcome), undefined)
  },
)

t.test('accept replay: a refused request does not use up its key', async (t) => {
  const tenant = await createTenant(database, { screenshots_per_month: 1, max_pending: 2 })
  await accept(tenant)
  t.equal(replayedId((await accept(tenant, under('key'))).outcome), 'USAGE_LIMIT_EXCEEDED')
  t.equal(await countRows('idempotency_key', tenant), 0)
  t.equal(replayedId((await accept(tenant, under('key', 'other'))).outcome), 'USAGE_LIMIT_EXCEEDED')
})

t.test('accept replay: a capture that shares a result is replayed under its key', async (t) => {
  const tenant = await createTenant(database)
  const sharing = { key: sha256('shared'), seconds: 60 }
  await accept(tenant, { sharing })
  const follower = await accept(tenant, { sharing, ...under('key') })
  t.match(follower.outcome, { shared: 'follows' })
  t.equal(replayedId((await accept(tenant, { sharing, ...under('key') })).outcome), follower.id)
})

// Contract: Idempotency
t.test('accept replay: after 24 hours a key may be reused; old keys are removed in bounded passes', async (t) => {
  const tenant = await createTenant(database)
  for (const key of ['a', 'b', 'c']) await accept(tenant, under(key))
  const age = (hours: number, keys: readonly string[]) =>
    database.query(
      `update idempotency_key set created_at = now() - $2 * interval '1 hour' where account_id = $1 and key = any ($3)`,
      [tenant.accountId, hours, keys],
    )
  await age(23.9, ['a'])
  t.equal(replayedId((await accept(tenant, under('a', 'other'))).outcome), 'IDEMPOTENCY_MISMATCH')
  await age(24.1, ['a', 'b', 'c'])
  const again = await accept(tenant, under('a', 'other'))
  t.equal(replayedId(again.outcome), undefined)
  t.equal(replayedId((await accept(tenant, under('a', 'other'))).outcome), again.id)
  t.same([await removeIdempotencyKeys(database, 1), await removeIdempotencyKeys(database, 9)], [1, 1])
  t.same(await database.query('select key from idempotency_key where account_id = $1', [tenant.accountId]), [
    { key: 'a' },
  ])
})

// Contract: Idempotency
t.test('accept replay: a batch is replayed under its key; concurrent requests create one batch', async (t) => {
  const tenant = await createTenant(database)
  const batches = await times(10, async () => {
    const batch = newBatch(tenant, under('batch'))
    return { id: batch.id, outcome: await acceptBatch(database, batch, { windowSize }) }
  })
  const first = batches.filter(({ outcome }) => outcome.ok && outcome.replayOf === undefined)
  t.equal(first.length, 1)
  t.same(new Set(batches.map(({ outcome }) => replayedId(outcome) ?? first[0]!.id)), new Set([first[0]!.id]))
  t.same([await countRows('capture', tenant), await countRows('batch', tenant)], [2, 1])
  const other = await acceptBatch(database, newBatch(tenant, under('batch', 'other')), { windowSize })
  t.match(other, { ok: false, code: 'IDEMPOTENCY_MISMATCH' })
})

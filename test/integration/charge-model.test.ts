import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import t from 'tap'
import { acceptBatch } from '#gateway/db/accept-batch.ts'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { admitWaiting } from '#ledger/relay.ts'
import { changeCaptures, type CaptureEnd } from '#shared/db/change-captures.ts'
import { deleteCapture } from '#gateway/db/captures.ts'
import { type ChargeModel, createChargeModel } from '#test/helpers/charge-model.ts'
import { completedEnd } from '#test/helpers/completed-end.ts'
import {
  chargeDifferences,
  dayDifferences,
  keepDeleted,
  meterDifferencesAfterDeletes,
  outcomeDifferences,
} from '#test/helpers/meter-differences.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant, type Tenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const database = await server.createDatabase()
await database.query(keepDeleted)
const windowSize = 3
const quota = 7

/** Keys 0 to 2 share results; undefined shares nothing. */
const shareable = fc.option(fc.nat(2), { nil: undefined })
const place = fc.nat(100)
const steps = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('accept'), keys: fc.tuple(shareable) }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('batch'), keys: fc.array(fc.nat(4), { minLength: 1, maxLength: 4 }) }),
  },
  { weight: 4, arbitrary: fc.record({ does: fc.constantFrom('begin', 'complete', 'fail', 'delete'), place }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('admit') }) },
)
type Step = { does: string; keys?: readonly (number | undefined)[]; place?: number }

const cacheKey = (key: number | undefined) => Buffer.alloc(32, key ?? 0)

const acceptOne = (tenant: Tenant, id: string, key: number | undefined) => {
  const sharing = key === undefined ? undefined : { key: cacheKey(key), seconds: 3600 }
  return acceptCapture(database, tenant.capture({ id, lane: 'bulk', sharing }), { windowSize })
}

const acceptSome = (tenant: Tenant, captures: readonly { id: string; key: number | undefined }[]) => {
  const { id: _, ...common } = tenant.capture({ lane: 'bulk' })
  const members = captures.map(({ id, key }) => ({ ...tenant.capture({ id }), cacheKey: cacheKey(key) }))
  return acceptBatch(database, { ...common, id: randomUUID(), members, cacheSeconds: 3600 }, { windowSize })
}

const failed: CaptureEnd = { status: 'failed', code: 'TIMEOUT', message: 'slow' }

const change = (id: string, how: string) =>
  changeCaptures(database, [id], (capture) => {
    const { status, attempts, unendedStarts } = capture
    if (status === 'completed' || status === 'failed' || (how === 'begin' && status === 'processing')) return {}
    const end = { begin: undefined, complete: completedEnd(capture), fail: failed }[how]
    return { change: { attempts: attempts + 1, unendedStarts, begins: how === 'begin', end } }
  })

const accept = async (tenant: Tenant, model: ChargeModel, known: string[], { does, keys = [] }: Step) => {
  const captures = keys.map((key) => ({ id: randomUUID(), key }))
  const expected = model.accept(captures)
  const [first] = captures
  const outcome = await (does === 'batch' ? acceptSome(tenant, captures) : acceptOne(tenant, first!.id, first!.key))
  if (outcome.ok) known.push(...captures.map(({ id }) => id))
  const code = outcome.ok ? 'ok' : outcome.code
  if (code !== (expected ? 'ok' : 'USAGE_LIMIT_EXCEEDED')) throw new Error(`${does} returned ${code}`)
}

const take = async (tenant: Tenant, model: ChargeModel, known: string[], step: Step) => {
  const { does } = step
  if (does === 'accept' || does === 'batch') return accept(tenant, model, known, step)
  if (does === 'admit') return void (await admitWaiting(database, { windowSize, limit: 10 }))
  const id = known[(step.place ?? 0) % Math.max(1, known.length)]
  if (id === undefined) return
  if (does === 'delete') {
    model.remove(id)
    await deleteCapture(database, { id, accountId: tenant.accountId })
    return
  }
  if (does === 'begin') model.begin(id)
  else model.end(id, does === 'complete' ? 'completed' : 'failed')
  await change(id, does)
}

const compare = async ({ accountId }: Tenant, model: ChargeModel, after: string) => {
  const [row] = await database.query<{ reserved: number; settled: number }>(
    'select reserved::integer, settled::integer from usage where account_id = $1',
    [accountId],
  )
  const { reserved, settled } = row ?? { reserved: 0, settled: 0 }
  const is = `after ${after}: reserved ${reserved}, settled ${settled}`
  if (reserved !== model.reserved() || settled !== model.settled()) {
    throw new Error(`${is}, not ${model.reserved()} and ${model.settled()}`)
  }
  if (reserved + settled > quota) throw new Error(`${is}, beyond the quota`)
}

const play = async (taken: readonly Step[]) => {
  const tenant = await createTenant(database, { screenshots_per_month: quota })
  const model = createChargeModel(quota)
  const known: string[] = []
  for (const each of taken) {
    await take(tenant, model, known, each)
    await compare(tenant, model, JSON.stringify(each))
  }
  for (let id = model.unended()[0]; id !== undefined; id = model.unended()[0]) {
    const each = { does: model.settled() % 2 === 0 ? 'fail' : 'complete', place: known.indexOf(id) }
    // A follower ends with its leader, which precedes it.
    const before = model.unended().length
    await take(tenant, model, known, each)
    if (model.unended().length === before) await take(tenant, model, known, { ...each, does: 'delete' })
    await compare(tenant, model, 'the end')
  }
  if (model.reserved() !== 0) throw new Error('what was reserved is neither settled nor released')
}

t.test('charge model: any sequence of operations charges each result once and never exceeds the quota', async (t) => {
  await fc.assert(fc.asyncProperty(fc.array(steps, { minLength: 10, maxLength: 45 }), play), { seed: 5, numRuns: 30 })
  t.same(await database.query(meterDifferencesAfterDeletes), [])
  for (const differences of [dayDifferences, outcomeDifferences, chargeDifferences])
    t.same(await database.query(differences), [])
  const kinds = await database.query<{ charge: string }>('select distinct charge from capture order by 1')
  t.same(
    kinds.map(({ charge }) => charge),
    ['free', 'released', 'settled'],
    'every kind of charge occurred',
  )
})

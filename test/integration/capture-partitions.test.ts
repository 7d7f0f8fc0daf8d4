import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { keepPartitions } from '#ledger/keep-partitions.ts'
import { findProgress } from '#gateway/db/find-progress.ts'
import { type CapturePage, listCaptures, type PageStart } from '#gateway/db/list-captures.ts'
import { accountChangesIn } from '#gateway/db/recent-captures.ts'
import { findCaptures, findLinkedCapture, findMessage, findSealedCapture } from '#shared/db/find-capture.ts'
import { eventually } from '#test/helpers/eventually.ts'
import {
  addOldPartition,
  dropComing,
  end,
  ended,
  idOf,
  type Partitioned,
  partitionOf,
  partitions,
  startPartitioned,
} from '#test/helpers/partitioned.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept, row } from '#test/helpers/running-ledger.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const start = () => startPartitioned(server)

t.test(
  'partitions: a capture is with others that have not ended, then where the time of its id belongs, if such a partition exists',
  async (t) => {
    const world = await start()
    const { database } = world
    const [first, second] = await partitions(database)
    const ids = await Promise.all([0, -8, -400].map(async (daysAgo) => (await accept(world, { id: idOf(daysAgo) })).id))
    for (const id of ids) t.equal(await partitionOf(database, id), 'capture_open')
    for (const id of ids) await end(world, id)
    t.same(await Promise.all(ids.map((id) => partitionOf(database, id))), [first, second, 'capture_ended_other'])
    for (const id of ids) t.match(await row(database, id), { status: 'completed', charge: 'settled' })
  },
)

t.test('partitions: those of the next days are made ahead, once, as long as a twelfth of the retention', async (t) => {
  const { database, ledger } = await start()
  const made = await partitions(database)
  await keepPartitions(ledger)
  t.same(await partitions(database), made)
  await dropComing(database)
  await keepPartitions({ ...ledger, rowRetentionDays: 12 })
  const daily = await partitions(database)
  t.equal(daily.length, 8)
  t.match(
    daily,
    Array.from({ length: 8 }, () => /^capture_ended_\d{8}$/),
  )
  for (const part of daily) {
    const [like] = await database.query(
      `select (select count(*) from pg_index where indrelid = $1::regclass) = (select count(*) from pg_index where indrelid = 'capture_ended'::regclass) as indexes,
         (select reloptions::text from pg_class where oid = $1::regclass) like '%autovacuum_vacuum_scale_factor%' as options`,
      [part],
    )
    t.same(like, { indexes: true, options: true }, part)
  }
})

t.test('partitions: captures that ended while one was missing move into it, but not while they change', async (t) => {
  const world = await start()
  const { database, ledger } = world
  const [missing] = await partitions(database)
  await dropComing(database)
  const { id } = await accept(world)
  const { id: later } = await accept(world, { id: idOf(-400) })
  for (const each of [id, later]) {
    await end(world, each)
    t.equal(await partitionOf(database, each), 'capture_ended_other')
  }
  await database.transaction(async (sql) => {
    await sql.query('select from capture where id = $1 for update', [id])
    await t.rejects(keepPartitions(ledger), 'is tried again later')
  })
  await keepPartitions(ledger)
  t.equal(await partitionOf(database, id), missing)
  t.equal(await partitionOf(database, later), 'capture_ended_other')
  t.match(await row(database, id), { status: 'completed' })
})

t.test('partitions: who moves captures into a new one locks its parent before the one that they leave', async (t) => {
  const world = await start()
  const { database } = world
  await dropComing(database)
  const { id } = await accept(world)
  await end(world, id)
  await database.transaction(async (sql) => {
    await sql.query('lock table only capture_ended in share update exclusive mode')
    const kept = database.query('select keep_captures(1)')
    await t.rejects(kept, { cause: { where: /"lock table only capture_ended in share update exclusive mode"/ } })
  })
})

/** What each kind of lookup finds of a capture. */
const lookUp = async ({ database, tenant: { accountId } }: Partitioned, id: string) => {
  const found = [
    await findSealedCapture(database, { id, accountId }),
    await findLinkedCapture(database, id),
    ...(await findCaptures(database, [id])),
  ]
  return found.map((capture) => capture && [capture.id, capture.status])
}

const thrice = <T>(value: T) => [value, value, value]

t.test('partitions: a capture is found by its id wherever it is, for its account alone', async (t) => {
  const world = await start()
  const { database } = world
  await addOldPartition(database)
  const open = await accept(world)
  const over: string[] = []
  for (const daysAgo of [98, 40, 0, -400]) over.push(await ended(world, { daysAgo }))
  const held = await Promise.all([open.id, ...over].map((id) => partitionOf(database, id)))
  t.equal(new Set(held).size, 5, held.join(', '))
  t.same(await lookUp(world, open.id), thrice([open.id, 'pending']))
  for (const id of over) t.same(await lookUp(world, id), thrice([id, 'completed']))
  const other = await createTenant(database)
  for (const id of [open.id, ...over])
    t.equal(await findSealedCapture(database, { id, accountId: other.accountId }), undefined)
  t.same(await lookUp(world, randomUUIDv7()), [undefined, undefined])
})

t.test('partitions: what waits and what runs is published and shown', async (t) => {
  const world = await start()
  const { database, tenant } = world
  const ids: string[] = []
  for (const status of ['processing', 'pending', 'pending']) {
    const { id } = await accept(world)
    await database.query('update capture set status = $2 where id = $1', [id, status])
    t.equal((await findMessage(database, id))?.id, id)
    ids.push(id)
  }
  const positions = new Map((await findProgress(database, ids)).map(({ id, position }) => [id, position]))
  t.same(
    ids.map((id) => positions.get(id)),
    [null, 0, 1],
  )
  const over = await ended(world, { daysAgo: 0 })
  const recent = await accountChangesIn(database).loadRecent(tenant.accountId)
  t.same(new Set(recent?.open.map(({ id }) => id)), new Set(ids))
  t.same(
    recent?.newest.map(({ id }) => id),
    [...ids, over].toReversed(),
  )
})

t.test('partitions: more accounts than one statement reads are each shown their own captures', async (t) => {
  const { database } = await start()
  const tenants = await Array.fromAsync({ length: 51 }, () => createTenant(database))
  const captures = tenants.map((tenant) => tenant.capture())
  for (const capture of captures) await acceptCapture(database, capture, { windowSize: 1000 })
  const { loadRecent } = accountChangesIn(database)
  const recent = await Promise.all(tenants.map(({ accountId }) => loadRecent(accountId)))
  t.same(
    recent.map((each) => each?.newest.map(({ id }) => id)),
    captures.map(({ id }) => [id]),
  )
})

t.test('partitions: a capture is found at any time while it ends', async (t) => {
  const world = await start()
  const accepted = await Promise.all(Array.from({ length: 30 }, () => accept(world)))
  const seen = new Set<string>()
  const watch = async () => {
    for (let unended = accepted.length; unended > 0;) {
      unended = 0
      for (const { id } of accepted) {
        const found = await world.database.query<{ status: string }>('select status from find_capture($1)', [id])
        const status = found.map((each) => each.status).join()
        seen.add(status)
        if (status !== 'completed') unended += 1
      }
    }
  }
  const watchers = [watch(), watch(), watch()]
  for (const { id } of accepted) await end(world, id)
  await Promise.all(watchers)
  t.same(seen, new Set(['completed', 'pending']))
})

t.test('partitions: a capture is found that moves to a new partition while its lookup waits for that', async (t) => {
  const world = await start()
  const { database } = world
  await dropComing(database)
  const { id } = await accept(world)
  await end(world, id)
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  let found: ReturnType<typeof lookUp>[] = []
  await database.transaction(async (sql) => {
    await sql.query('select keep_captures(7)')
    found = [lookUp(world, id), findCaptures(database, [id]).then((rows) => rows.map((each) => [each.id, each.status]))]
    await eventually(async () => (await database.query(waiting)).length === 2)
  })
  t.same(await found[0], thrice([id, 'completed']))
  t.same(await found[1], [[id, 'completed']])
  t.not(await partitionOf(database, id), 'capture_ended_other')
})

t.test(
  'partitions: more than ten thousand captures stay where they are, and the other partitions are made',
  async (t) => {
    const world = await start()
    const { database, ledger } = world
    await dropComing(database)
    const { id } = await accept(world)
    await end(world, id)
    await database.query(
      `insert into capture (id, account_id, pool, lane, status, options, token_hash, budget_ms, period, retention_seconds, created_at, part)
       select overlay(gen_random_uuid()::text placing left(id::text, 13) from 1 for 13)::uuid, account_id, pool, lane, status, options,
         token_hash, budget_ms, period, retention_seconds, created_at, part from capture, generate_series(1, 10000)`,
    )
    await keepPartitions({ ...ledger, rowRetentionDays: 12 })
    t.equal((await partitions(database)).length, 7)
    t.equal(await partitionOf(database, id), 'capture_ended_other')
  },
)

t.test('partitions: a list has the captures of each, in one order, whichever way it is read', async (t) => {
  const world = await start()
  const { database, tenant } = world
  await addOldPartition(database)
  const ids: string[] = []
  for (const daysAgo of [99, 98, 40, 20, 0, -30]) ids.unshift(await ended(world, { daysAgo }))
  const open = await accept(world)
  ids.splice(1, 0, open.id)
  const waiting = await accept(world)
  await database.query('update capture set created_at = now() - make_interval(days => 50) where id = $1', [waiting.id])
  ids.splice(5, 0, waiting.id)
  const held = await Promise.all(ids.map((id) => partitionOf(database, id)))
  t.ok(new Set(held).size >= 5, `several partitions: ${held.join(', ')}`)
  const page = (filter: object, from: PageStart, limit = 2) =>
    listCaptures(database, { accountId: tenant.accountId, ...filter }, { start: from, limit })
  const idsOf = ({ captures }: CapturePage) => captures.map(({ id }) => id)
  for (const status of [undefined, 'completed', 'pending'] as const) {
    const expected = ids.filter(
      (id) => status === undefined || (status === 'pending') === (id === open.id || id === waiting.id),
    )
    const all = await page({ status }, { skip: 0 }, 20)
    t.same([idsOf(all), all.total], [expected, expected.length], `all, ${status}`)
    const bySkip: string[] = []
    for (let skip = 0; skip < expected.length; skip += 2) bySkip.push(...idsOf(await page({ status }, { skip })))
    t.same(bySkip, expected, `by number, ${status}`)
    for (const direction of ['older', 'newer'] as const) {
      const order = direction === 'older' ? all.captures : all.captures.toReversed()
      const seen = [order[0]!]
      for (let more = true; more;) {
        const next = await page({ status }, { direction, position: seen.at(-1)! })
        seen.push(...(direction === 'older' ? next.captures : next.captures.toReversed()))
        more = direction === 'older' ? next.hasOlder : next.hasNewer
        t.ok(direction === 'older' ? next.hasNewer : next.hasOlder, 'the way back')
      }
      t.same(
        seen.map(({ id }) => id),
        order.map(({ id }) => id),
        `${direction}, ${status}`,
      )
    }
  }
})

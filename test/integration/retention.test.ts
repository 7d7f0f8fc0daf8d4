import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { Ledger } from '#ledger/context.ts'
import { expireObjects } from '#ledger/db/object-removals.ts'
import { removeObjects } from '#ledger/remove-objects.ts'
import { removeEnded, removeOldRows } from '#ledger/remove-old-rows.ts'
import { sweepOrphans } from '#ledger/sweep-orphans.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import type { Database } from '#shared/db/connection.ts'
import { createFilesStore } from '#shared/storage/files-store.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createTestLedger } from '#test/helpers/ledger.ts'
import { rowsRead } from '#test/helpers/rows-read.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept } from '#test/helpers/running-ledger.ts'
import { createTenant, type Tenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)

const start = async (more: Partial<Ledger> = {}) => {
  const database = await server.createDatabase()
  const noQueue = {} as Ledger['queue']
  const ledger = createTestLedger(database, noQueue, more)
  return { database, ledger, tenant: await createTenant(database) }
}

/** A capture that ended `days` ago. */
const ended = async (
  environment: { database: Database; tenant: Tenant },
  days: number,
  status: 'completed' | 'failed' = 'completed',
) => {
  const { id } = await accept(environment)
  const objectKey = newObjectKey(id, new Date())
  const facts = { fileSize: 1, sha256: 'ab', mimeType: 'image/png', width: 1, height: 1, warnings: [], timings: {} }
  const end =
    status === 'completed' ? { status, objectKey, ...facts } : ({ status, code: 'TIMEOUT', message: 'slow' } as const)
  await changeCaptures(environment.database, [id], () => ({
    change: { attempts: 1, unendedStarts: 0, begins: true, end },
  }))
  const ago = `now() - make_interval(days => $1)`
  await environment.database.query(
    `update capture set created_at = ${ago}, completed_at = ${ago}, expires_at = ${ago} + interval '1 day' where id = $2`,
    [days, id],
  )
  await environment.database.query(
    `update stored_object set expires_at = ${ago} + interval '1 day' where capture_id = $2`,
    [days, id],
  )
  return { id, objectKey }
}

const idsIn = async (database: Database, table: 'capture' | 'batch') =>
  (await database.query<{ id: string }>(`select id from ${table}`)).map(({ id }) => id).toSorted()

/** Removes rows until there is no more immediate work. */
const removeAll = async (ledger: Ledger) => {
  while (await removeOldRows(ledger));
}

const makeLateDue = (database: Database) => database.query('update late_cleanup set due_at = now()')

t.test('retention: records of ended captures are removed after the retention time, not before', async (t) => {
  const environment = await start()
  const { database, ledger } = environment
  await ended(environment, 99)
  await ended(environment, 99, 'failed')
  const young = await ended(environment, 89)
  const { id: waits } = await accept(environment)
  await database.query(`update capture set created_at = now() - interval '200 days' where id = $1`, [waits])
  const shown = await ended(environment, 99)
  await database.query(`update capture set expires_at = now() + interval '1 day' where id = $1`, [shown.id])
  await removeOldRows(ledger)
  t.same(
    await idsIn(database, 'capture'),
    [young.id, waits, shown.id].toSorted(),
    'the image of one is still available',
  )
  t.same(
    ledger.recordedEvents.filter(([name]) => name === 'rowsRemoved'),
    [['rowsRemoved', 'capture', 2]],
  )
  t.same(await database.query('select count(*)::integer as keys from object_removal'), [{ keys: 1 }])
})

t.test('retention: rows are removed in several small transactions, and a locked row is postponed', async (t) => {
  const environment = await start()
  const { database, ledger } = environment
  const { id } = await ended(environment, 99)
  await database.query(
    `insert into capture (id, account_id, pool, lane, options, token_hash, budget_ms, period, retention_seconds, status,
       created_at, completed_at, part)
     select gen_random_uuid(), account_id, pool, lane, options, token_hash, budget_ms, period, retention_seconds, 'failed',
       created_at, completed_at + n * interval '1 second', part from capture, generate_series(1, 1100) as n`,
  )
  await database.transaction(async (sql) => {
    await sql.query('select from capture where id = $1 for update', [id])
    await removeAll(ledger)
  })
  t.same(await idsIn(database, 'capture'), [id])
  t.ok(ledger.recordedEvents.length > 1)
  await removeAll(ledger)
  t.same(await idsIn(database, 'capture'), [id], 'not retried with every batch')
  await makeLateDue(database)
  await removeAll(ledger)
  t.same(await idsIn(database, 'capture'), [])
})

t.test('retention: idempotency keys of a removed record, and its batch when empty, are removed too', async (t) => {
  const environment = await start()
  const { database, ledger, tenant } = environment
  const [old, member] = [await ended(environment, 99), await ended(environment, 99)]
  const young = await ended(environment, 89)
  const [empty, emptied, recorded, fresh] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  for (const [id, days] of [
    [empty, 101],
    [emptied, 101],
    [recorded, 101],
    [fresh, 1],
  ] as const) {
    await database.query(
      `insert into batch (id, account_id, total, created_at) values ($1, $2, 1, now() - make_interval(days => $3))`,
      [id, tenant.accountId, days],
    )
  }
  await database.query('update capture set batch_id = $1 where id = $2', [emptied, member.id])
  await database.query('update capture set batch_id = $1 where id = $2', [recorded, young.id])
  for (const { id } of [old, young]) {
    await database.query(
      `insert into idempotency_key (account_id, key, request_sha256, capture_id, created_at)
       values ($1, $2::text, '', $2::uuid, now())`,
      [tenant.accountId, id],
    )
  }
  await removeOldRows(ledger)
  t.same(await idsIn(database, 'capture'), [young.id])
  t.same(await idsIn(database, 'batch'), [recorded, fresh].toSorted())
  t.same(await database.query('select key from idempotency_key'), [{ key: young.id }])
})

t.test('retention: a record with a pending webhook delivery is kept until the delivery has ended', async (t) => {
  const environment = await start()
  const { database, ledger } = environment
  const { id } = await ended(environment, 99)
  await database.query(
    `insert into webhook_delivery (id, account_id, capture_id, url, host, event, subject, state, next_attempt_at, created_at)
     select gen_random_uuid(), account_id, id, 'https://example.com/', 'example.com', 'screenshot.completed', '{}', 'pending',
       now(), now() from capture where id = $1`,
    [id],
  )
  await removeOldRows(ledger)
  t.same(await idsIn(database, 'capture'), [id])
  await database.query(`update webhook_delivery set state = 'failed', next_attempt_at = null`)
  await makeLateDue(database)
  await removeOldRows(ledger)
  t.same(await idsIn(database, 'capture'), [])
})

t.test('retention: an object that a younger record shares is kept', async (t) => {
  const environment = await start()
  const { database, ledger } = environment
  const [old, young] = [await ended(environment, 99), await ended(environment, 0)]
  await database.query('delete from stored_object where key = $1', [young.objectKey])
  await database.query('update capture set object_key = $1 where id = $2', [old.objectKey, young.id])
  await removeOldRows(ledger)
  t.same(await database.query('select key, capture_id, expires_at > now() as holds from stored_object'), [
    { key: old.objectKey, capture_id: young.id, holds: true },
  ])
  t.same(await database.query('select from object_removal'), [])
})

t.test('retention: deletions that the store rejected are retried later, completed ones are not', async (t) => {
  const refusing = new Set<string>()
  const requested: string[] = []
  const { database, ledger } = await start({
    objects: {
      delete: async (keys) => {
        requested.push(...keys)
        return keys.filter((key) => refusing.has(key)).map((key) => ({ key, reason: 'AccessDenied' }))
      },
      list: async function* list() {},
    },
  })
  const keys = Array.from({ length: 1300 }, () => newObjectKey(randomUUID(), new Date())).toSorted()
  for (const key of keys.slice(0, 1000)) refusing.add(key)
  await database.query(`insert into object_removal select unnest($1::text[]), '2026-01-01'`, [keys])
  await t.rejects(removeObjects(ledger), {
    code: 'SERVICE_UNAVAILABLE',
    message: /1000 objects not deleted: AccessDenied/,
  })
  t.same(await removals(database), [...refusing], 'only deleted keys are removed from the list')
  t.same(
    ledger.recordedEvents.filter(([name]) => name === 'objectsRemoved'),
    [['objectsRemoved', 300]],
  )
  await removeObjects(ledger)
  t.equal(requested.length, 1300, 'rejected deletions are not retried immediately')
  refusing.clear()
  await database.query(`update object_removal set not_before = not_before - interval '5 minutes'`)
  await removeObjects(ledger)
  t.same(await removals(database), [])
})

t.test('retention: an image is kept until its pending upload has ended, and delays no other', async (t) => {
  const environment = await start()
  const { database } = environment
  const [uploading, other] = [await ended(environment, 99), await ended(environment, 90)]
  await database.query(
    `insert into webhook_delivery (id, account_id, capture_id, upload_destination_id, url, host, event, next_attempt_at, created_at)
     select gen_random_uuid(), account_id, id, gen_random_uuid(), 'https://s3.example/a', 's3.example', 'screenshot.upload', now(), now()
       from capture where id = $1`,
    [uploading.id],
  )
  for (let batch = 0; batch < 2; batch += 1) t.equal(await expireObjects(database, 1), 1)
  t.equal(await expireObjects(database, 1), 0, 'is not looked at with every batch')
  t.same(await removals(database), [other.objectKey])
  await database.query(`update webhook_delivery set state = 'failed'`)
  await database.query(`update stored_object set expires_at = expires_at - interval '10 minutes'`)
  t.equal(await expireObjects(database, 1), 1)
  t.same((await removals(database)).toSorted(), [uploading.objectKey, other.objectKey].toSorted())
})

t.test('retention: concurrent ledgers delete each object once', async (t) => {
  const gate = Promise.withResolvers<void>()
  const requested: string[] = []
  const { database, ledger } = await start({
    objects: {
      delete: async (keys) => {
        requested.push(...keys)
        await gate.promise
        return []
      },
      list: async function* list() {},
    },
  })
  const keys = Array.from({ length: 1200 }, () => newObjectKey(randomUUID(), new Date()))
  await database.query('insert into object_removal select unnest($1::text[]), now()', [keys])
  const first = removeObjects(ledger)
  await eventually(() => requested.length === 1000)
  const second = removeObjects(ledger)
  await eventually(() => requested.length > 1000)
  gate.resolve()
  await Promise.all([first, second])
  t.same(requested.toSorted(), keys.toSorted())
  t.same(await removals(database), [])
})

/** The number of rows of `capture` that a removal reads. */
const readsOf = (database: Database) =>
  database.transaction(async (sql) => {
    // The planner would prefer a sequential scan for a table of this size.
    await sql.query('set local enable_seqscan = off')
    const before = await rowsRead(sql, 'capture')
    await removeEnded(sql, { days: 90, limit: 500 })
    return (await rowsRead(sql, 'capture')) - before
  })

t.test(
  'retention: records whose images expire later are read once, and again when the images have expired',
  async (t) => {
    const environment = await start()
    const { database } = environment
    const { id } = await ended(environment, 99)
    await database.query(`update capture set expires_at = now() + interval '1 day' where id = $1`, [id])
    await database.query(
      `insert into capture (id, account_id, pool, lane, options, token_hash, budget_ms, period, retention_seconds, status,
       created_at, completed_at, expires_at, part)
     select gen_random_uuid(), account_id, pool, lane, options, token_hash, budget_ms, period, retention_seconds, status,
       created_at, completed_at + n * interval '1 second', expires_at, part from capture, generate_series(1, 300) as n`,
    )
    t.ok((await readsOf(database)) >= 301, 'all rows are read the first time')
    t.ok((await readsOf(database)) < 20, 'none of them is read again')
    await database.query('update capture set expires_at = now()')
    await makeLateDue(database)
    await removeAll(environment.ledger)
    t.same(await idsIn(database, 'capture'), [])
  },
)

t.test('retention: one ledger removes rows at a time; the next continues at its cursor', async (t) => {
  const environment = await start()
  const { database, ledger } = environment
  await ended(environment, 99)
  await database.transaction(async (sql) => {
    await sql.query(`select from cleanup_cursor where kind = 'capture' for update`)
    t.same(await removeEnded(database, { days: 90, limit: 500 }), { lookedAt: 0, removed: 0 })
  })
  t.same(await removeEnded(database, { days: 90, limit: 500 }), { lookedAt: 1, removed: 1 })
  const [{ until } = { until: '' }] = await database.query<{ until: string }>(
    `select done_until::text as until from cleanup_cursor where kind = 'capture'`,
  )
  t.not(until, '-infinity')
  await removeAll(ledger)
  t.same(await database.query(`select done_until::text as until from cleanup_cursor where kind = 'capture'`), [
    { until },
  ])
})

const hour = 3_600_000
const now = new Date('2026-06-10T12:00:00Z')
const ago = (hours: number) => new Date(now.getTime() - hours * hour)

const withFiles = async (t: Test) => {
  const files = createFilesStore({ folder: t.testdir({}), filesUrl: '', signingKey: '', now: () => now })
  const environment = await start({ objects: files })
  const put = async (id: string, hours: number) => {
    const key = newObjectKey(id, ago(hours))
    await files.put(key, Buffer.from('x'), 'image/png')
    return key
  }
  return { ...environment, put, sweep: () => sweepOrphans(environment.ledger, now) }
}

const removals = async (database: Database) =>
  (await database.query<{ key: string }>('select key from object_removal order by key')).map(({ key }) => key)

t.test('retention: orphaned objects are found when they are two days old', async (t) => {
  const environment = await withFiles(t)
  const { database, put, sweep, ledger } = environment
  const orphan = await put(randomUUID(), 49)
  await put(randomUUID(), 47)
  const { id: waits } = await accept(environment)
  await put(waits, 100)
  const { id: done } = await ended(environment, 5)
  const [winner, loser] = [await put(done, 100), await put(done, 100)]
  await database.query('update stored_object set key = $1', [winner])
  await sweep()
  t.same(await removals(database), [orphan, loser].toSorted(), 'only objects that are no image and cannot become one')
  t.ok(ledger.recordedEvents.some(([name, objects]) => name === 'orphansFound' && objects === 2))
  await sweep()
  t.equal(ledger.recordedEvents.filter(([name]) => name === 'orphansFound').length, 1, 'no orphan is found twice')
})

/** A ledger with a store that contains `keys`; `requested` are the start positions of its list requests. */
const withKeys = async (keys: readonly string[]) => {
  const requested: string[] = []
  const list = async function* listed(_prefix: string, after = '') {
    requested.push(after)
    yield* keys.filter((key) => key > after)
  }
  return { ...(await start({ objects: { delete: async () => [], list } })), requested }
}

t.test('retention: any ledger continues a sweep page by page, and keys of unknown format are ignored', async (t) => {
  const strange = ['captures/notes.txt', 'captures/2020-01-01T00/x/y']
  const keys = [...strange, ...Array.from({ length: 1500 }, () => newObjectKey(randomUUID(), ago(72)))].toSorted()
  const { database, ledger, requested } = await withKeys(keys)
  t.equal(await sweepOrphans(ledger, now), true, 'there are more pages')
  t.ok((await removals(database)).length >= 998)
  t.ok((await removals(database)).length <= 1000)
  t.equal(await sweepOrphans({ ...ledger }, now), false)
  t.same(
    await removals(database),
    keys.filter((key) => !strange.includes(key)),
  )
  t.same(requested, ['', keys[999]])
})

t.test('retention: a finished sweep continues with newly aged keys, and restarts after seven days', async (t) => {
  const last = newObjectKey(randomUUID(), ago(72))
  const { database, ledger, requested } = await withKeys([last])
  await sweepOrphans(ledger, now)
  await sweepOrphans(ledger, now)
  const daysLater = (days: number) =>
    database.query('update orphan_sweep set began_at = now() - make_interval(days => $1)', [days])
  await daysLater(6)
  await sweepOrphans(ledger, now)
  await daysLater(7)
  await sweepOrphans(ledger, now)
  await sweepOrphans(ledger, now)
  t.same(requested, ['', last, last, last, ''])
})

t.test('retention: a page is swept by one ledger until its claim has expired', async (t) => {
  const listing = Promise.withResolvers<void>()
  const pages: string[][] = [[newObjectKey(randomUUID(), ago(72))], []]
  let requested = 0
  const list = async function* listed() {
    requested += 1
    const page = pages[requested - 1] ?? []
    if (requested === 1) await listing.promise
    yield* page
  }
  const { database, ledger } = await start({ objects: { delete: async () => [], list } })
  const first = sweepOrphans(ledger, now)
  await eventually(() => requested === 1)
  await sweepOrphans(ledger, now)
  t.equal(requested, 1)
  await database.query(`update orphan_sweep set claimed_until = now()`)
  await sweepOrphans(ledger, now)
  t.equal(requested, 2)
  listing.resolve()
  await first
})

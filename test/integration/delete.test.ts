import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { jetstreamManager } from '@nats-io/jetstream'
import t, { type Test } from 'tap'
import { deleteCapture } from '#gateway/db/captures.ts'
import type { Database } from '#shared/db/connection.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { capturesStream, resultsStream } from '#shared/queue/topology.ts'
import { createFilesStore } from '#shared/storage/files-store.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import {
  accept,
  meters,
  row,
  type RunningLedger,
  startLedger,
  statusIs,
  windowSize,
} from '#test/helpers/running-ledger.ts'
import { createTenant } from '#test/helpers/tenant.ts'
import { reportFailure, reportStart, reportSuccess } from '#test/helpers/worker-reports.ts'

const [server, nats] = await Promise.all([startPostgres(t), startNats(t)])
const idle = { pending: 0, admitted: 0, waiting: 0, processing: 0, reserved: 0, settled: 0 }
const image = Buffer.from('the bytes of an image')

const start = async (test: Test) => {
  const folder = test.testdir({})
  const files = createFilesStore({ folder, filesUrl: 'http://files', signingKey: '', now: () => new Date() })
  const running = await startLedger(test, { server, nats }, { objects: files })
  return { ...running, folder, files }
}

type Running = Awaited<ReturnType<typeof start>>
const drop = ({ database, tenant }: Pick<RunningLedger, 'database' | 'tenant'>, id: string) =>
  deleteCapture(database, { id, accountId: tenant.accountId })

const put = async ({ files }: Running, id: string) => {
  const objectKey = newObjectKey(id, new Date())
  await files.put(objectKey, image, 'image/png')
  return objectKey
}

const complete = async (running: Running, id: string) => {
  await reportStart(running.queue, id)
  const { objectKey } = await reportSuccess(running.queue, id, { objectKey: await put(running, id) })
  await statusIs(running.database, id, 'completed')
  return objectKey
}

/** Lets the ledger do at once the deletion work that is due in the next minutes. */
const settleDeletions = ({ database }: Pick<Running, 'database'>) =>
  eventually(
    async () => {
      await database.query('update deletion set due_at = now()')
      return (await database.query('select from deletion')).length === 0
    },
    { what: 'all deletions are finished' },
  )

const filesBelow = async (folder: string) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

const noFiles = ({ folder }: Running) =>
  eventually(async () => (await filesBelow(folder)).length === 0, { what: 'no object is left' })

const states = {
  'pending, admitted': { reach: async () => {}, settled: 0 },
  'pending, waiting': {
    reach: async ({ database }: Running, id: string) => {
      await database.query('update outbox set relay_at = null where capture_id = $1', [id])
      await database.query('update lane_meter set admitted = admitted - 1, waiting = waiting + 1')
    },
    settled: 0,
  },
  processing: {
    reach: async ({ queue, database }: Running, id: string) => {
      await reportStart(queue, id)
      await statusIs(database, id, 'processing')
    },
    settled: 1,
  },
  completed: { reach: async (running: Running, id: string) => void (await complete(running, id)), settled: 1 },
  failed: {
    reach: async ({ queue, database }: Running, id: string) => {
      await reportStart(queue, id)
      await reportFailure(queue, id)
      await statusIs(database, id, 'failed')
    },
    settled: 0,
  },
  expired: {
    reach: async (running: Running, id: string) => {
      await complete(running, id)
      const past = `now() - interval '1 second'`
      await running.database.query(`update capture set expires_at = ${past} where id = $1`, [id])
      await running.database.query(`update stored_object set expires_at = ${past} where capture_id = $1`, [id])
    },
    settled: 1,
  },
}

// Contract: Delete
t.test('delete: a capture is deleted once in every state, and no meter counts it afterwards', async (t) => {
  for (const [state, { reach, settled }] of Object.entries(states)) {
    await t.test(state, async (t) => {
      const running = await start(t)
      const { database } = running
      const { id } = await accept(running)
      await reach(running, id)
      t.equal(await deleteCapture(database, { id, accountId: randomUUID() }), false, 'another account cannot delete it')
      t.equal(await drop(running, id), true)
      t.same(await row(database, id), {})
      t.equal(await drop(running, id), false, 'deleting it again finds nothing')
      t.same(await meters(running), { ...idle, settled }, 'a started capture stays charged, others are released')
      await settleDeletions(running)
      await noFiles(running)
      t.same(await database.query('select key from stored_object'), [])
      t.same(await database.query('select from outbox'), [])
    })
  }
})

t.test('delete: a deleted capture makes room in the window for a waiting one', async (t) => {
  const running = await start(t)
  const accepted = []
  for (let count = 0; count <= windowSize; count += 1) accepted.push(await accept(running))
  t.match(await meters(running), { admitted: windowSize, waiting: 1 })
  await drop(running, accepted[0]!.id)
  running.ledger.relayWakeup.notify()
  await eventually(async () => (await meters(running))?.waiting === 0)
  t.match(await meters(running), { admitted: windowSize, waiting: 0 })
})

/** The tables that contain a text, in plain or in hexadecimal; not their partitions. */
const tablesWith = async (database: Database, text: string) => {
  const tables = await database.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  )
  const hex = Buffer.from(text).toString('hex')
  const found = await Promise.all(
    tables.map(async ({ name }) => {
      const statement = `select from ${name} as x where x::text like $1 or x::text like $2`
      return (await database.query(statement, [`%${text}%`, `%${hex}%`])).length > 0 ? [name] : []
    }),
  )
  return found.flat()
}

/** Subjects of the stored messages that contain a text. */
const messagesWith = async ({ connection }: Queue, text: string) => {
  const manager = await jetstreamManager(connection)
  const found: string[] = []
  for (const { name } of [capturesStream, resultsStream]) {
    const { first_seq: first, last_seq: last } = (await manager.streams.info(name)).state
    for (let seq = first; seq <= last; seq += 1) {
      const message = await manager.streams.getMessage(name, { seq }).catch(() => null)
      const all = message && message.subject + message.string()
      if (all?.includes(text) || all?.includes(Buffer.from(text).toString('base64'))) found.push(message!.subject)
    }
  }
  return found
}

// Contract: Delete
t.test('delete: no data of a deleted capture remains in a table, a message or an object', async (t) => {
  const running = await start(t)
  const { database, queue, folder } = running
  const marker = `marker${randomUUID().replaceAll('-', '')}`
  const marked = {
    url: `https://example.com/?q=${marker}`,
    options: { html: marker, js: marker, headers: { a: marker }, cookies: [{ name: 'a', value: marker }] },
    sealed: Buffer.from(marker),
  }
  const [waits, runs, ends] = [
    await accept(running, marked),
    await accept(running, marked),
    await accept(running, marked),
  ]
  await database.query('update capture set webhook_url = url')
  await database.query('update outbox set relay_at = now()')
  running.ledger.relayWakeup.notify()
  await eventually(async () => (await messagesWith(queue, marker)).length === 3, { what: 'all are published' })
  await database.query(
    `insert into idempotency_key (account_id, key, request_sha256, capture_id, created_at) values ($1, $2, $3, $4, now())`,
    [running.tenant.accountId, marker, Buffer.from('a'), ends.id],
  )
  await reportStart(queue, runs.id)
  await statusIs(database, runs.id, 'processing')
  const details = marked.url
  await reportSuccess(queue, ends.id, { details, objectKey: await put(running, ends.id) })
  await statusIs(database, ends.id, 'completed')
  await put(running, ends.id)
  const everywhere = ['capture', 'idempotency_key', 'webhook_delivery']
  t.same((await tablesWith(database, marker)).toSorted(), everywhere, 'the search finds the marker')
  t.equal((await messagesWith(queue, marker)).length, 4, 'the search finds it in messages')
  t.equal((await filesBelow(folder)).length, 2, 'one of the two objects was never reported')

  for (const { id } of [waits, runs, ends]) t.equal(await drop(running, id), true)
  await eventually(async () => (await messagesWith(queue, marker)).length === 0, { what: 'messages are purged' })
  await reportSuccess(queue, runs.id, { details, objectKey: await put(running, runs.id) })
  await settleDeletions(running)
  await noFiles(running)
  t.same(await tablesWith(database, marker), [])
  t.same(await messagesWith(queue, marker), [])
})

// Contract: Delete
t.test('delete: the result of a deleted capture sends no event or webhook, and its object is removed', async (t) => {
  const running = await start(t)
  const { queue, ledger } = running
  const webhookUrl = 'https://hooks.example/in'
  const [deleted, stranger] = [await accept(running, { webhookUrl }), await accept(running)]
  await reportStart(queue, deleted.id)
  await statusIs(running.database, deleted.id, 'processing')
  await drop(running, deleted.id)
  await running.database.query('delete from deletion')
  const remaining = await put(running, stranger.id)
  await reportSuccess(queue, deleted.id, { objectKey: await put(running, deleted.id) })
  await eventually(async () => (await filesBelow(running.folder)).length === 1, { what: 'the object is removed' })
  t.same(running.endings(deleted.id), [])
  t.same(await running.database.query('select from webhook_delivery'), [])
  t.ok(
    ledger.recordedEvents.some(
      ([name, id, why]) => name === 'reportIgnored' && id === deleted.id && why === 'unknown_capture',
    ),
  )

  await reportSuccess(queue, randomUUID(), { objectKey: remaining })
  await complete(running, stranger.id)
  t.same(
    await running.database.query('select key from object_removal where key = $1', [remaining]),
    [],
    'objects of other captures are not removed',
  )
})

// Contract: Delete
// Contract: Cache key
t.test('delete: a shared object stays until the last of its owners is deleted', async (t) => {
  const running = await start(t)
  const { database, files } = running
  const [first, second] = [await accept(running), await accept(running)]
  const key = await complete(running, first.id)
  await complete(running, second.id)
  const longer = `now() + interval '5 hours'`
  await database.query(`update capture set object_key = $1, expires_at = ${longer} where id = $2`, [key, second.id])
  await database.query('delete from stored_object where capture_id = $1', [second.id])

  await drop(running, first.id)
  await reportSuccess(running.queue, first.id, { objectKey: key })
  await settleDeletions(running)
  t.same(
    await database.query(`select capture_id, expires_at > now() + interval '4 hours' as longer from stored_object`),
    [{ capture_id: second.id, longer: true }],
  )
  const found = await files.get(key)
  t.same(found && (await buffer(found.body)), image, 'the last owner can still read it')
  t.same(await database.query('select from object_removal where key = $1', [key]), [])

  await drop(running, second.id)
  await settleDeletions(running)
  const isGone = async () => {
    const left = await files.get(key)
    left?.body.destroy()
    return left === undefined
  }
  await eventually(isGone, { what: 'deleting the last owner removes the object' })
})

t.test('delete: a shared object passes to the owner that keeps it longest, in whatever order they came', async (t) => {
  const running = await start(t)
  const { database } = running
  const owners: { id: string }[] = []
  for (let n = 0; n < 4; n += 1) owners.push(await accept(running))
  const [first, ...others] = owners
  const key = await complete(running, first!.id)
  for (const [index, { id }] of others.entries()) {
    await complete(running, id)
    await database.query('delete from stored_object where capture_id = $1', [id])
    const keptHours = [3, 5, 4][index]
    await database.query(
      `update capture set object_key = $1, expires_at = now() + $2 * interval '1 hour' where id = $3`,
      [key, keptHours, id],
    )
  }
  const owner = () =>
    database.query(
      `select capture_id, round(extract(epoch from expires_at - now()) / 3600)::integer as hours from stored_object`,
    )
  const [three, five, four] = others.map(({ id }) => id)
  await drop(running, first!.id)
  t.same(await owner(), [{ capture_id: five, hours: 5 }])
  await drop(running, five!)
  t.same(await owner(), [{ capture_id: four, hours: 4 }])
  await drop(running, four!)
  t.same(await owner(), [{ capture_id: three, hours: 3 }])
})

t.test('delete: deleting a follower leaves every meter unchanged, because none counts it', async (t) => {
  const running = await start(t)
  const { database } = running
  const [leader, follower] = [await accept(running), randomUUID()]
  const before = await meters(running)
  await database.query(
    `insert into capture (id, account_id, pool, lane, options, token_hash, budget_ms, period, retention_seconds, created_at,
       charge, follows, part)
     select $1, account_id, pool, lane, options, token_hash, budget_ms, period, retention_seconds, created_at, 'free', id, 'open'
       from capture where id = $2`,
    [follower, leader.id],
  )
  t.equal(await drop(running, follower), true)
  t.same(await meters(running), before)
  t.match(before, { pending: 1, admitted: 1, reserved: 1 })
})

// Contract: Delete
t.test('delete: a batch keeps its counts; a deleted unended member counts as failed', async (t) => {
  const running = await start(t)
  const { database, queue, tenant } = running
  const members = [await accept(running), await accept(running), await accept(running)]
  const batch = randomUUID()
  await database.query('insert into batch (id, account_id, total, created_at) values ($1, $2, 3, now())', [
    batch,
    tenant.accountId,
  ])
  await complete(running, members[0]!.id)
  await reportStart(queue, members[1]!.id)
  await statusIs(database, members[1]!.id, 'processing')
  await database.query('update capture set batch_id = $1', [batch])
  await database.query('update batch set completed = 1, processing = 1')
  for (const { id } of members) await drop(running, id)
  t.same(await database.query('select total, processing, completed, failed from batch'), [
    { total: 3, processing: 0, completed: 1, failed: 2 },
  ])
})

// Contract: Order of checks
t.test('delete: an idempotency key is free once its capture is deleted', async (t) => {
  const database = await server.createDatabase()
  const running = { database, tenant: await createTenant(database) }
  const [one, other] = [await accept(running), await accept(running)]
  for (const { id, accountId } of [one, other]) {
    await database.query(
      'insert into idempotency_key (account_id, key, request_sha256, capture_id, created_at) values ($1, $2::text, $3, $2::uuid, now())',
      [accountId, id, Buffer.from('a')],
    )
  }
  await drop(running, one.id)
  t.same(await database.query('select key from idempotency_key'), [{ key: other.id }])
})

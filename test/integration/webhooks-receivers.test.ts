import { randomUUID } from 'node:crypto'
import t from 'tap'
import { redeliver } from '#gateway/db/deliveries.ts'
import type { Database, Sql } from '#shared/db/connection.ts'
import { announceDeliveries, takeDeliveries } from '#webhooks/db/take-deliveries.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { rowsRead } from '#test/helpers/rows-read.ts'
import type { Tenant } from '#test/helpers/tenant.ts'
import { acceptFor, endCaptures, hookUrl, makeDue, startSender } from '#test/helpers/webhook-sender.ts'
import { startWebhookWorld } from '#test/helpers/webhook-world.ts'

const setUp = await startWebhookWorld(t)

/** Ends `count` captures with webhooks of one host; returns their ids. */
const endWithWebhooks = async (
  environment: { database: Database; tenant: Tenant },
  count: number,
  path: string,
): Promise<string[]> => {
  const { database, tenant } = environment
  const ids: string[] = []
  for (let index = 0; index < count; index += 1) ids.push(await acceptFor(database, tenant, hookUrl('one', path)))
  await endCaptures(database, ids)
  return ids
}

type Queue = { readonly parallel: number; readonly unanswered: number; readonly isPaused: boolean }

const queueOf = async (database: Database): Promise<Queue | undefined> => {
  const [queue] = await database.query<Queue>(
    'select parallel, unanswered, paused_until is not null as "isPaused" from webhook_queue',
  )
  return queue
}

const inFlight = async (database: Database) =>
  (await database.query('select from webhook_delivery where leased_until is not null')).length

// Contract: Fairness
t.test('webhooks receivers: a fast receiver gets more concurrent deliveries, up to its account share', async (t) => {
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  await using s = await setUp(async () => {
    await gate.promise
    return 204
  })
  await Promise.all([startSender(t, s.on), startSender(t, s.on)])
  for (const id of await endWithWebhooks(s, 30, '/quick/x')) await s.ended(id, 'delivered')
  gate = Promise.withResolvers<void>()
  const ids = await endWithWebhooks(s, 30, '/quick/y')
  await eventually(() => s.receiver.mostAtOnce('quick') === 8, { what: 'an eighth of 64' })
  gate.resolve()
  for (const id of ids) await s.ended(id, 'delivered')
  t.equal(s.receiver.mostAtOnce('quick'), 8)
})

// Contract: Fairness
t.test('webhooks receivers: a failure halves the concurrent deliveries of a receiver, to two at least', async (t) => {
  await using s = await setUp(() => 500)
  await startSender(t, s.on, { retryDelaysMs: [] })
  const failOne = async () => {
    const [id = ''] = await endWithWebhooks(s, 1, '/x')
    await s.ended(id, 'failed')
    return (await queueOf(s.database))?.parallel
  }
  t.equal(await failOne(), 2)
  await s.database.query('update webhook_queue set parallel = 7')
  t.equal(await failOne(), 3)
  t.equal(await failOne(), 2)
  t.match(await queueOf(s.database), { unanswered: 0, isPaused: false }, 'error responses do not count as unanswered')
})

t.test('webhooks receivers: an unresponsive receiver is paused, then probed until it responds', async (t) => {
  let behave: () => Promise<number | 'close'> = async () => 'close'
  await using s = await setUp(() => behave())
  await startSender(t, s.on, { retryDelaysMs: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1] })
  const ids = await endWithWebhooks(s, 8, '/dead/x')
  const isPaused = async () => (await queueOf(s.database))?.isPaused === true && (await inFlight(s.database)) === 0
  await eventually(isPaused, { what: 'the receiver is paused' })
  const receivedCount = () => s.receiver.received.length
  const before = receivedCount()
  t.ok(before >= 5)
  await makeDue(s.database)
  const arrivals = () => s.database.query('select from webhook_arrival')
  await eventually(async () => (await arrivals()).length === 0, { what: 'a sender has processed the arrival' })
  t.equal(await inFlight(s.database), 0)
  t.equal(receivedCount(), before, 'no further delivery is sent')

  const gate = Promise.withResolvers<void>()
  behave = async () => {
    await gate.promise
    return 204
  }
  await s.database.query('update webhook_queue set paused_until = now(), due_at = now()')
  await eventually(() => receivedCount() === before + 1)
  t.equal(await inFlight(s.database), 1)
  gate.resolve()
  for (const id of ids) await s.ended(id, 'delivered')
  t.match(await queueOf(s.database), { unanswered: 0, isPaused: false })
})

t.test('webhooks receivers: a delivery that waits too long expires, logged, and can be redelivered', async (t) => {
  await using s = await setUp()
  const [id = ''] = await endWithWebhooks(s, 1, '/late')
  await s.database.query(`update webhook_delivery set queued_at = now() - interval '23 hours 59 minutes'`)
  const sender = await startSender(t, s.on, { retryDelaysMs: [3_600_000] })
  await s.ended(id, 'delivered')
  await sender.end()
  const [late = ''] = await endWithWebhooks(s, 1, '/late')
  await s.database.query(`update webhook_delivery set queued_at = now() - interval '26 hours' where state = 'pending'`)
  await startSender(t, s.on, { retryDelaysMs: [3_600_000] })
  await s.ended(late, 'failed')
  t.match(await s.attempts(late), [{ number: 1, status: null, error: 'expired' }])
  const [{ id: delivery } = { id: '' }] = await s.database.query<{ id: string }>(
    'select id from webhook_delivery where capture_id = $1',
    [late],
  )
  t.ok(await redeliver(s.database, { accountId: s.tenant.accountId, captureId: late }, delivery))
  await s.ended(late, 'delivered')
})

/** The number of deliveries taken, and of rows of deliveries and queues read for it. */
const readsOf = (database: Database) =>
  database.transaction(async (sql: Sql) => {
    const reads = () => rowsRead(sql, 'webhook_delivery', 'webhook_queue')
    // The planner would prefer sequential scans for tables of this size.
    await sql.query('set local enable_seqscan = off')
    const before = await reads()
    const taken = await takeDeliveries(sql, { limit: 100, perAccount: 8, brokenAfter: 5, leaseMs: 10_000 })
    return { taken: taken.length, reads: (await reads()) - before }
  })

t.test('webhooks receivers: taking reads no rows of later deliveries, whatever their accounts', async (t) => {
  await using s = await setUp()
  await s.database.query(
    `insert into webhook_delivery (id, account_id, url, host, event, next_attempt_at, created_at)
     select gen_random_uuid(), gen_random_uuid(), '', 'host' || n, 'webhook.test', now() + interval '1 hour', now()
       from generate_series(1, 5000) as n`,
  )
  await s.database.query(
    `insert into webhook_delivery (id, account_id, url, host, event, next_attempt_at, created_at)
     values ($1, $1, '', 'due', 'webhook.test', now(), now())`,
    [randomUUID()],
  )
  await announceDeliveries(s.database)
  await s.database.query('analyze')
  t.match(await readsOf(s.database), { taken: 1 })
  const later = await readsOf(s.database)
  t.equal(later.taken, 0)
  t.ok(later.reads < 20, `${later.reads} rows`)
})

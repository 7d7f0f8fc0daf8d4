import { randomUUID } from 'node:crypto'
import t from 'tap'
import { redeliver } from '#gateway/db/deliveries.ts'
import type { Database, Sql } from '#shared/db/connection.ts'
import { announceDeliveries, takeDeliveries } from '#webhooks/db/take-deliveries.ts'
import { eventually } from '#test/helpers/eventually.ts'
import type { Tenant } from '#test/helpers/tenant.ts'
import { acceptFor, endCaptures, hookUrl, makeDue, startSender } from '#test/helpers/webhook-sender.ts'
import { startWebhookWorld } from '#test/helpers/webhook-world.ts'

const setUp = await startWebhookWorld(t)

/** Has so many captures end whose ends are told at one host. Answers their ids. */
const tell = async (on: { database: Database; tenant: Tenant }, count: number, path: string): Promise<string[]> => {
  const { database, tenant } = on
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
t.test(
  'webhooks receivers: a receiver that answers quickly gets more at a time, up to the share of its account',
  async (t) => {
    let gate = Promise.withResolvers<void>()
    gate.resolve()
    await using s = await setUp(async () => {
      await gate.promise
      return 204
    })
    await Promise.all([startSender(t, s.on), startSender(t, s.on)])
    for (const id of await tell(s, 30, '/quick/x')) await s.ended(id, 'delivered')
    gate = Promise.withResolvers<void>()
    const ids = await tell(s, 30, '/quick/y')
    await eventually(() => s.receiver.mostAtOnce('quick') === 8, { what: 'an eighth of 64' })
    gate.resolve()
    for (const id of ids) await s.ended(id, 'delivered')
    t.equal(s.receiver.mostAtOnce('quick'), 8)
  },
)

// Contract: Fairness
t.test('webhooks receivers: a receiver that fails gets half as many, and two at the least', async (t) => {
  await using s = await setUp(() => 500)
  await startSender(t, s.on, { waitsMs: [] })
  const failOne = async () => {
    const [id = ''] = await tell(s, 1, '/x')
    await s.ended(id, 'failed')
    return (await queueOf(s.database))?.parallel
  }
  t.equal(await failOne(), 2)
  await s.database.query('update webhook_queue set parallel = 7')
  t.equal(await failOne(), 3)
  t.equal(await failOne(), 2)
  t.match(await queueOf(s.database), { unanswered: 0, isPaused: false }, 'an answer is an answer')
})

t.test(
  'webhooks receivers: a receiver that does not answer is left alone, then tried by one, until it answers',
  async (t) => {
    let behave: () => Promise<number | 'close'> = async () => 'close'
    await using s = await setUp(() => behave())
    await startSender(t, s.on, { waitsMs: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1] })
    const ids = await tell(s, 8, '/dead/x')
    const isAlone = async () => (await queueOf(s.database))?.isPaused === true && (await inFlight(s.database)) === 0
    await eventually(isAlone, { what: 'it is left alone' })
    const heard = () => s.receiver.received.length
    const before = heard()
    t.ok(before >= 5)
    await makeDue(s.database)
    const arrivals = () => s.database.query('select from webhook_arrival')
    await eventually(async () => (await arrivals()).length === 0, { what: 'a sender has looked' })
    t.equal(await inFlight(s.database), 0)
    t.equal(heard(), before, 'nothing more is sent')

    const gate = Promise.withResolvers<void>()
    behave = async () => {
      await gate.promise
      return 204
    }
    await s.database.query('update webhook_queue set paused_until = now(), due_at = now()')
    await eventually(() => heard() === before + 1)
    t.equal(await inFlight(s.database), 1)
    gate.resolve()
    for (const id of ids) await s.ended(id, 'delivered')
    t.match(await queueOf(s.database), { unanswered: 0, isPaused: false })
  },
)

t.test(
  'webhooks receivers: a delivery that waits for too long is given up, which its log says, until it is asked for again',
  async (t) => {
    await using s = await setUp()
    const [id = ''] = await tell(s, 1, '/late')
    await s.database.query(`update webhook_delivery set queued_at = now() - interval '23 hours 59 minutes'`)
    const sender = await startSender(t, s.on, { waitsMs: [3_600_000] })
    await s.ended(id, 'delivered')
    await sender.end()
    const [late = ''] = await tell(s, 1, '/late')
    await s.database.query(
      `update webhook_delivery set queued_at = now() - interval '26 hours' where state = 'pending'`,
    )
    await startSender(t, s.on, { waitsMs: [3_600_000] })
    await s.ended(late, 'failed')
    t.match(await s.attempts(late), [{ number: 1, status: null, error: 'expired' }])
    const [{ id: delivery } = { id: '' }] = await s.database.query<{ id: string }>(
      'select id from webhook_delivery where capture_id = $1',
      [late],
    )
    t.ok(await redeliver(s.database, { accountId: s.tenant.accountId, captureId: late }, delivery))
    await s.ended(late, 'delivered')
  },
)

/** Rows of deliveries and queues that taking reads. */
const readsOf = (database: Database) =>
  database.transaction(async (sql: Sql) => {
    const reads = async () => {
      const [row] = await sql.query<{ reads: number }>(
        `select sum(seq_tup_read + idx_tup_fetch)::integer as reads from pg_stat_xact_user_tables
          where relname in ('webhook_delivery', 'webhook_queue')`,
      )
      return row?.reads ?? 0
    }
    // The planner would rather read tables of this size whole.
    await sql.query('set local enable_seqscan = off')
    const before = await reads()
    const taken = await takeDeliveries(sql, { limit: 100, perAccount: 8, brokenAfter: 5, leaseMs: 10_000 })
    return { taken: taken.length, reads: (await reads()) - before }
  })

t.test(
  'webhooks receivers: what waits for later costs takers nothing, however many accounts it belongs to',
  async (t) => {
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
  },
)

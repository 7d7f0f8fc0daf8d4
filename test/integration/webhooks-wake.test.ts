import t from 'tap'
import type { Database } from '#shared/db/connection.ts'
import type { Listening } from '#shared/db/listen.ts'
import { announceDeliveries, announcePolling, deliveriesChannel } from '#webhooks/db/take-deliveries.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { captureFor, hookUrl, newTenant, startSender } from '#test/helpers/webhook-sender.ts'
import { rowsRead } from '#test/helpers/rows-read.ts'
import { startWebhookWorld } from '#test/helpers/webhook-world.ts'

const setUp = await startWebhookWorld(t)
const never = 3_600_000

/** A database that exposes whether a LISTEN subscription is active. */
const watched = (database: Database) => {
  let listening: Listening | undefined
  const subscribe: Database['subscribe'] = (channel, notified) => (listening = database.subscribe(channel, notified))
  return {
    database: { ...database, subscribe },
    untilListening: () => eventually(() => listening?.isListening() === true, { what: 'the sender listens' }),
  }
}
const sessions = `from pg_stat_activity where datname = current_database() and query ilike 'listen%'`

t.test('webhooks wake: a delivery wakes a sender that does not poll', async (t) => {
  await using s = await setUp()
  const { database, untilListening } = watched(s.database)
  await startSender(t, { ...s.on, database }, { idleMs: never })
  await untilListening()
  for (let turn = 0; turn < 2; turn += 1) {
    await s.ended(await captureFor(s.database, s.tenant, hookUrl('one', '/wake')), 'delivered')
  }
  await s.database.query(`select pg_terminate_backend(pid) ${sessions}`)
  await eventually(async () => (await s.database.query(`select ${sessions}`)).length === 1, {
    what: 'the sender listens again',
  })
  await untilListening()
  await s.ended(await captureFor(s.database, s.tenant, hookUrl('one', '/again')), 'delivered')
})

t.test('webhooks wake: a sender wakes when a retry is due', async (t) => {
  let answers = 0
  await using s = await setUp(async () => ((answers += 1) === 1 ? 500 : 204))
  const { database, untilListening } = watched(s.database)
  await startSender(t, { ...s.on, database }, { idleMs: never, retryDelaysMs: [1500] })
  await untilListening()
  await s.ended(await captureFor(s.database, s.tenant, hookUrl('one', '/retry')), 'delivered')
  t.equal(answers, 2)
})

t.test('webhooks wake: a delivery without a notification is found by polling', async (t) => {
  await using s = await setUp()
  const { database, untilListening } = watched(s.database)
  await s.database.query('alter table webhook_arrival disable trigger webhook_arrival_wakes')
  await startSender(t, { ...s.on, database }, { idleMs: 100 })
  await untilListening()
  await s.ended(await captureFor(s.database, s.tenant, hookUrl('one', '/lost')), 'delivered')
})

t.test('webhooks wake: a sender that cannot listen, as behind a pooler, polls', async (t) => {
  await using s = await setUp()
  const notListening: Database['subscribe'] = () => ({ isListening: () => false, [Symbol.dispose]: () => {} })
  await startSender(t, { ...s.on, database: { ...s.database, subscribe: notListening } }, { idleMs: never })
  await s.ended(await captureFor(s.database, s.tenant, hookUrl('one', '/deaf')), 'delivered')
})

t.test('webhooks wake: nobody is notified while a sender polls', async (t) => {
  await using s = await setUp()
  let notifications = 0
  using listening = s.database.subscribe(deliveriesChannel, () => {
    notifications += 1
  })
  await eventually(async () => listening.isListening(), { what: 'the test listens' })
  const arrive = async (deliveries: number) => {
    for (let nth = 0; nth < deliveries; nth += 1) await captureFor(s.database, s.tenant, hookUrl('one', `/${nth}`))
  }
  await announcePolling(s.database, 600_000, false)
  const before = notifications
  await arrive(5)
  // Arrives after those of earlier commits.
  await s.database.query(`notify ${deliveriesChannel}`)
  await eventually(async () => notifications > before, { what: 'the notification of the test arrives' })
  t.equal(notifications, before + 1, 'it is the only one')
  await announcePolling(s.database, 0, false)
  await arrive(1)
  await eventually(async () => notifications === before + 2, { what: 'a delivery notifies again' })
})

t.test('webhooks wake: a sender that is full leaves the notifications to others', async (t) => {
  await using s = await setUp(() => 'hang')
  const announced: unknown[] = []
  const query: Database['query'] = (text, parameters, keep) => {
    if (text.includes('update webhook_polling')) announced.push(parameters)
    return s.database.query(text, parameters, keep)
  }
  // An account has an eighth of a sender at most.
  for (let account = 0; account < 8; account += 1) {
    await captureFor(s.database, await newTenant(s.database), hookUrl('one', `/${account}`))
  }
  await s.database.query(
    `insert into webhook_delivery (id, account_id, capture_id, url, host, event, next_attempt_at, created_at)
     select gen_random_uuid(), d.account_id, d.capture_id, d.url, 'host' || n, d.event, now(), now()
       from webhook_delivery d cross join generate_series(1, 12) as n`,
  )
  await startSender(t, { ...s.on, database: { ...s.database, query } }, { inFlightMax: 100, answerMs: 2000 })
  const isWithdrawn = () => announced.length > 1
  await eventually(async () => isWithdrawn(), { what: 'the sender withdraws its announcement' })
  t.strictSame(announced.slice(0, 2), [
    [1500, true],
    [0, true],
  ])
})

t.test('webhooks wake: a busy sender finds what nobody notifies of, and leaves it to others as it ends', async (t) => {
  await using s = await setUp()
  const { database, untilListening } = watched(s.database)
  const sender = await startSender(t, { ...s.on, database }, { idleMs: never, inFlightMax: 1000 })
  await untilListening()
  const isAnnounced = async () =>
    (await s.database.query('select from webhook_polling where polled_until > clock_timestamp()')).length === 1
  await captureFor(s.database, s.tenant, hookUrl('one', '/busy'))
  const [{ id: model } = {}] = await s.database.query<{ id: string }>('select id from webhook_delivery')
  const insert = (count: number) =>
    s.database.query(
      `with queued as (
         insert into webhook_delivery (id, account_id, capture_id, url, host, event, next_attempt_at, created_at)
         select gen_random_uuid(), d.account_id, d.capture_id, d.url, 'host' || n % 50, d.event, now(), now()
           from webhook_delivery d cross join generate_series(1, $2::integer) as n where d.id = $1
         returning account_id, host)
       insert into webhook_arrival (account_id, host, due_at) select account_id, host, now() from queued group by 1, 2`,
      [model, count],
    )
  await eventually(
    async () => {
      await insert(100)
      return isAnnounced()
    },
    { withinMs: 60_000, what: 'the sender is busy' },
  )
  const isDone = async () =>
    (await s.database.query(`select from webhook_delivery where state = 'pending'`)).length === 0
  // Nothing notifies of these, unless the announcement has ended.
  for (const count of [0, 1, 100, 1]) {
    await insert(count)
    await eventually(isDone, { withinMs: 60_000, what: 'all is delivered' })
  }
  await sender.end()
  t.equal(await isAnnounced(), false)
})

t.test('webhooks wake: a sender that starts finds each queue, by one row of it', async (t) => {
  await using s = await setUp()
  await s.database.query(
    `insert into webhook_delivery (id, account_id, url, host, event, next_attempt_at, created_at)
     select gen_random_uuid(), $1, '', n % 3, 'webhook.test', '2026-01-01'::timestamptz + n * interval '1 second', now()
       from generate_series(1, 5000) as n`,
    [s.tenant.accountId],
  )
  await s.database.query('analyze webhook_delivery')
  const read = await s.database.transaction(async (sql) => {
    await announceDeliveries(sql)
    return rowsRead(sql, 'webhook_delivery')
  })
  const arrivals = await s.database.query('select host, iso_time(due_at) as due from webhook_arrival order by host')
  const dueAt = (second: number) => `2026-01-01T00:00:0${second}.000000Z`
  t.strictSame(arrivals, [
    { host: '0', due: dueAt(3) },
    { host: '1', due: dueAt(1) },
    { host: '2', due: dueAt(2) },
  ])
  t.ok(read < 10, `${read} rows are read`)
})

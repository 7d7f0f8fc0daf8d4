import t from 'tap'
import type { Database } from '#shared/db/connection.ts'
import type { Listening } from '#shared/db/listen.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { captureFor, hookUrl, startSender } from '#test/helpers/webhook-sender.ts'
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

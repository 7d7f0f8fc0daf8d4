import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import {
  type ReceiverBounds,
  type AttemptRecord,
  handBackDeliveries,
  recordAttempts,
} from '#webhooks/db/record-attempts.ts'
import { announceDeliveries, dropDeliveries, renewLeases, takeDeliveries } from '#webhooks/db/take-deliveries.ts'
import type { Database } from '#shared/db/connection.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { createRecordSeal } from '#shared/db/record-seal.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { addWebhook, captureFor, hookUrl, makeDue, newTenant, startSender } from '#test/helpers/webhook-sender.ts'
import { startWebhookWorld } from '#test/helpers/webhook-world.ts'
import { namedKey } from '#test/helpers/named-key.ts'

const setUp = await startWebhookWorld(t)

t.test('webhooks takers: a sender renews its lease while the receiver responds slowly', async (t) => {
  const gate = Promise.withResolvers<void>()
  await using s = await setUp(async () => {
    await gate.promise
    return 204
  })
  const leaseMs = 4000
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/slow'))
  await Promise.all([
    startSender(t, s.on, { answerMs: 60_000, leaseMs }),
    startSender(t, s.on, { answerMs: 60_000, leaseMs }),
  ])
  const isRenewed = async () => {
    const statement = `select from webhook_delivery where leased_until > sent_at + $1 * interval '3 milliseconds'`
    return (await s.database.query(statement, [leaseMs])).length === 1
  }
  await eventually(isRenewed, { withinMs: 60_000, what: 'two leases are over' })
  t.equal(s.receiver.received.length, 1)
  gate.resolve()
  await s.ended(id, 'delivered')
  t.equal((await s.attempts(id)).length, 1)
})

t.test('webhooks takers: ids of deliveries are in the order of their creation', async (t) => {
  await using s = await setUp()
  for (let turn = 0; turn < 6; turn += 1) {
    await captureFor(s.database, s.tenant, hookUrl('one', '/ordered'))
    await delay(2)
  }
  const ids = await s.database.query<{ id: string }>('select id from webhook_delivery order by created_at')
  t.equal(ids.length, 6)
  t.strictSame(
    ids,
    ids.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
  )
})

t.test('webhooks takers: an old connection is not reused', async (t) => {
  await using s = await setUp()
  await startSender(t, s.on, { reuseMs: 1 })
  for (let turn = 0; turn < 3; turn += 1) {
    const id = await captureFor(s.database, s.tenant, hookUrl('one', '/aged'))
    await s.ended(id, 'delivered')
  }
  t.equal(s.receiver.connections(), 3)
})

const adapting: ReceiverBounds = {
  parallelMin: 2,
  parallelMax: 8,
  fastResponseMs: 1000,
  brokenAfter: 5,
  pauseMs: 1000,
  pauseMaxMs: 1000,
}

/**
 * A database that calls `act` before it returns the response of the first statement that stores results. Other statements
 * `run` or `wait` meanwhile.
 */
const afterFirstRecord = <D extends Pick<Database, 'query'>>(
  database: D,
  act: () => Promise<void>,
  others: 'run' | 'wait' = 'run',
): D => {
  let isFirst = true
  let acted: Promise<void> | undefined
  const query = async <Row extends object>(text: string, values?: readonly unknown[]) => {
    if (others === 'wait') await acted
    const rows = await database.query<Row>(text, values)
    if (!isFirst || !(text.includes('insert into webhook_attempt') && text.includes('adapted'))) return rows
    isFirst = false
    acted = act()
    await acted
    return rows
  }
  return { ...database, query }
}

const bounds = { limit: 1, perAccount: 8, brokenAfter: 5, leaseMs: 60_000 }

t.test('webhooks takers: many due deliveries of one receiver take no place of another', async (t) => {
  await using s = await setUp()
  for (let n = 0; n < 20; n += 1) await captureFor(s.database, s.tenant, hookUrl('one', `/${n}`))
  await captureFor(s.database, s.tenant, hookUrl('two', '/other'))
  const taken = await takeDeliveries(s.database, { ...bounds, limit: 100, perAccount: 100 })
  const [queue] = await s.database.query<{ parallel: number }>('select max(parallel) as parallel from webhook_queue')
  const parallel = queue?.parallel ?? 0
  t.ok(parallel < 20, 'fewer than are due')
  const ofOne = taken.filter(({ url }) => url.startsWith(hookUrl('one', '/')))
  t.same([ofOne.length, taken.length], [parallel, parallel + 1])
})

t.test(
  'webhooks takers: an account with more due receivers than are taken at once keeps no other waiting',
  async (t) => {
    await using s = await setUp()
    const queue = (accountId: string, receivers: number) =>
      s.database.query(
        `insert into webhook_delivery (id, account_id, url, host, event, next_attempt_at, created_at)
       select gen_random_uuid(), $1, n || '.example', n || '.example', 'webhook.test', now(), now()
         from generate_series(1, $2::integer) as n`,
        [accountId, receivers],
      )
    const other = await newTenant(s.database)
    await queue(s.tenant.accountId, 150)
    await announceDeliveries(s.database)
    t.equal((await takeDeliveries(s.database, { ...bounds, perAccount: 8 })).length, 1)
    await queue(other.accountId, 20)
    await announceDeliveries(s.database)
    const taken = await takeDeliveries(s.database, { ...bounds, limit: 100, perAccount: 8 })
    const ofOther = taken.filter(({ accountId }) => accountId === other.accountId)
    t.strictSame([taken.length - ofOther.length, ofOther.length], [7, 8])
    t.strictSame(
      await takeDeliveries(s.database, { ...bounds, limit: 100, perAccount: 8 }),
      [],
      'both have their share',
    )
  },
)

t.test('webhooks takers: results are stored while a webhook is locked', async (t) => {
  await using s = await setUp()
  const url = hookUrl('one', '/locked')
  const webhookId = await addWebhook(s.database, { accountId: s.tenant.accountId, url, secret: 'whsec_c2VjcmV0' })
  await captureFor(s.database, s.tenant)
  const [held] = await takeDeliveries(s.database, bounds)
  if (!held) throw new Error('nothing was taken')
  await s.database.transaction(async (sql) => {
    await sql.query('select from webhook where id = $1 for update', [webhookId])
    const result = { ...held, at: new Date(), ms: 1, status: 204, error: null, nextMs: null }
    await recordAttempts(s.database, [result], adapting)
  })
  t.equal((await s.database.query(`select from webhook_delivery where state = 'delivered'`)).length, 1)
})

t.test('webhooks takers: a sender whose lease was taken over changes nothing', async (t) => {
  await using s = await setUp()
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/twice'))
  const take = async () => {
    const [taken] = await takeDeliveries(s.database, bounds)
    if (!taken) throw new Error('nothing was taken')
    return taken
  }
  const late = await take()
  await s.database.query('update webhook_delivery set leased_until = now()')
  const other = await take()
  t.equal(other.id, late.id, 'another sender has taken it over')

  const row = async () => (await s.database.query('select * from webhook_delivery where capture_id = $1', [id]))[0]
  const record = (
    { id: delivery, take: number, takenAt }: typeof late,
    result: Pick<AttemptRecord, 'status' | 'error' | 'nextMs'>,
  ) =>
    recordAttempts(
      s.database,
      [{ id: delivery, take: number, takenAt, at: new Date(), ms: 1, body: 'sent', ...result }],
      adapting,
    )
  const writeLate = async () => {
    const before = await row()
    await renewLeases(s.database, [{ ...late, body: 'other bytes' }], 600_000)
    await handBackDeliveries(s.database, [late], 600_000)
    for (const nextMs of [1, null]) await record(late, { status: null, error: 'timeout', nextMs })
    await record(late, { status: 204, error: null, nextMs: null })
    t.equal(await dropDeliveries(s.database, [late]), 0)
    t.strictSame(await row(), before)
  }
  await renewLeases(s.database, [{ ...other, body: 'the bytes' }], 600_000)
  await writeLate()
  await record(other, { status: 500, error: 'status', nextMs: 60_000 })
  await writeLate()
  await s.database.query(`update webhook_delivery set next_attempt_at = now()`)
  await announceDeliveries(s.database)
  await record(await take(), { status: 204, error: null, nextMs: null })
  await writeLate()
  t.match(await s.deliveries(id), [{ state: 'delivered', attempts: 2 }])
  t.same(
    (await s.attempts(id)).map(({ error }) => error),
    ['status', null],
  )
})

t.test(
  'webhooks takers: a result that is stored late, after the leases have expired, keeps the sender going',
  async (t) => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await using s = await setUp(async (path) => {
      if (path === '/second') await second.promise
      return 204
    })
    let held = false
    // The statement is executed at once, its response arrives late.
    const hold = async () => {
      held = true
      await first.promise
    }
    const database = afterFirstRecord(s.database, hold, 'wait')
    const ids = [
      await captureFor(s.database, s.tenant, hookUrl('one', '/first')),
      await captureFor(s.database, s.tenant, hookUrl('two', '/second')),
    ]
    const leaseMs = 1000
    await startSender(t, { ...s.on, database }, { leaseMs })
    await eventually(() => held && s.receiver.received.length === 2, { what: 'one result is being stored' })
    second.resolve()
    const isExpired = async () =>
      (await s.database.query('select from webhook_delivery where leased_until < now()')).length === 1
    await eventually(isExpired, { what: 'the lease of the second has expired' })
    first.resolve()
    for (const id of ids) await s.ended(id, 'delivered')
    const last = await captureFor(s.database, s.tenant, hookUrl('three', '/third'))
    await s.ended(last, 'delivered')
    for (const id of [...ids, last]) t.equal((await s.attempts(id)).length, 1, 'one attempt')
    t.equal(s.receiver.received.length, 3, 'no delivery was sent twice')
  },
)

t.test('webhooks takers: a sender renews its leases while it waits for a result to be stored', async (t) => {
  const [stored, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await using s = await setUp(async (path) => {
    if (path === '/slow') await answered.promise
    return 204
  })
  const database = afterFirstRecord(s.database, () => stored.promise)
  const slow = await captureFor(s.database, s.tenant, hookUrl('one', '/slow'))
  const fast = await captureFor(s.database, s.tenant, hookUrl('two', '/fast'))
  const leaseMs = 1000
  await startSender(t, { ...s.on, database }, { answerMs: 60_000, leaseMs })
  const isRenewed = async () => {
    const statement = `select from webhook_delivery where leased_until > sent_at + $1 * interval '4 milliseconds'`
    return (await s.database.query(statement, [leaseMs])).length === 1
  }
  await eventually(isRenewed, { what: 'three leases are over' })
  stored.resolve()
  answered.resolve()
  for (const id of [slow, fast]) await s.ended(id, 'delivered')
})

t.test('webhooks takers: a result whose response is lost is stored once', async (t) => {
  await using s = await setUp(() => 500)
  let lost = false
  const database = afterFirstRecord(s.database, async () => {
    lost = true
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'the response is lost' })
  })
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/lost'))
  await startSender(t, { ...s.on, database }, { retryDelaysMs: [600_000] })
  await eventually(() => lost, { what: 'a response is lost' })
  const next = await captureFor(s.database, s.tenant, hookUrl('two', '/next'))
  await eventually(async () => (await s.attempts(next)).length === 1, { what: 'the next result is stored' })
  t.equal((await s.attempts(id)).length, 1)
  t.match(await s.deliveries(id), [{ state: 'pending', attempts: 1 }])
})

t.test("webhooks takers: an expired lease that nobody took over is still its holder's", async (t) => {
  await using s = await setUp()
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/late'))
  const [held] = await takeDeliveries(s.database, bounds)
  if (!held) throw new Error('nothing was taken')
  await s.database.query(
    `update webhook_delivery set leased_until = now(), next_attempt_at = now() + interval '1 hour'`,
  )
  t.same(await takeDeliveries(s.database, bounds), [])
  const leased = () => s.database.query('select leased_until > now() as leased from webhook_delivery')
  t.same(await leased(), [{ leased: null }], 'the lease is over')
  await renewLeases(s.database, [held], 60_000)
  t.same(await leased(), [{ leased: true }])
  const result = { ...held, at: new Date(), ms: 1, status: 204, error: null, nextMs: null }
  await recordAttempts(s.database, [result], adapting)
  t.equal((await s.attempts(id)).length, 1)
})

t.test('webhooks takers: a result that PostgreSQL rejects keeps no other result from being stored', async (t) => {
  await using s = await setUp()
  await s.database.query(
    `create function reject() returns trigger language plpgsql as $$ begin raise 'rejected'; end $$;
     create trigger reject before update on webhook_delivery for each row
       when (old.url like '%/poison' and new.state = 'delivered') execute function reject()`,
  )
  const poison = await captureFor(s.database, s.tenant, hookUrl('one', '/poison'))
  const others = await Promise.all(
    ['two', 'three', 'four'].map((name) => captureFor(s.database, s.tenant, hookUrl(name, '/good'))),
  )
  const leaseMs = 1000
  await startSender(t, s.on, { leaseMs })
  for (const id of others) await s.ended(id, 'delivered')
  const isRenewed = async () =>
    (
      await s.database.query(
        `select from webhook_delivery where leased_until > sent_at + $1 * interval '3 milliseconds'`,
        [leaseMs],
      )
    ).length === 1
  await eventually(isRenewed, { withinMs: 60_000, what: 'two leases are over' })
  t.equal(s.receiver.received.filter(({ path }) => path === '/poison').length, 1, 'it is not sent again')
  await s.database.query('drop trigger reject on webhook_delivery')
  await s.ended(poison, 'delivered')
})

t.test('webhooks takers: a body is stored with the first renewal or result, and none replaces it', async (t) => {
  await using s = await setUp()
  const ids = [
    await captureFor(s.database, s.tenant, hookUrl('one', '/')),
    await captureFor(s.database, s.tenant, hookUrl('two', '/')),
  ]
  const [renewed, ended] = await takeDeliveries(s.database, { ...bounds, limit: 2, perAccount: 2 })
  if (!renewed || !ended) throw new Error('two deliveries are due')
  const bodies = async () => {
    const rows = await s.database.query<{ id: string; body: string | null }>('select id, body from webhook_delivery')
    return [renewed, ended].map(({ id }) => rows.find((row) => row.id === id)?.body)
  }
  t.same([await bodies(), ids.length], [[null, null], 2], 'none is stored before the attempt')
  for (const body of ['first', 'other', null]) await renewLeases(s.database, [{ ...renewed, body }], 600_000)
  const failed = { at: new Date(), ms: 1, status: 500, error: 'status', nextMs: 600_000 } as const
  const results = [
    { ...renewed, ...failed, body: 'other' },
    { ...ended, ...failed, body: 'its own' },
  ]
  await recordAttempts(s.database, results, adapting)
  t.same(await bodies(), ['first', 'its own'])
})

t.test('webhooks takers: handed back, only what no sender can have sent loses its time', async (t) => {
  await using s = await setUp()
  await captureFor(s.database, s.tenant, hookUrl('one', '/'))
  const take = async () => {
    await s.database.query('update webhook_delivery set leased_until = now() where leased_until is not null')
    await s.database.query('update webhook_delivery set next_attempt_at = now()')
    await announceDeliveries(s.database)
    const [taken] = await takeDeliveries(s.database, bounds)
    if (!taken) throw new Error('nothing was taken')
    return taken
  }
  const sentAt = async () =>
    (await s.database.query<{ at: string | null }>('select iso_time(sent_at) as at from webhook_delivery'))[0]?.at
  await handBackDeliveries(s.database, [await take()], 0)
  t.equal(await sentAt(), null)
  const dead = await take()
  await handBackDeliveries(s.database, [await take()], 0)
  t.equal(await sentAt(), dead.sentAt, 'the sender that died may have sent it')
})

t.test('webhooks takers: a body is stored sealed; without its key it waits, and others are sent', async (t) => {
  await using s = await setUp((path) => (path === '/sealed' ? 500 : 204))
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/sealed'))
  const first = await startSender(t, s.on, { retryDelaysMs: [600_000] })
  await eventually(async () => (await s.attempts(id)).length === 1)
  await first.end()
  t.match(await s.database.query('select body from webhook_delivery'), [{ body: /^test:[\w+/=]+$/ }])
  await makeDue(s.database)
  await startSender(t, s.on, { records: createRecordSeal([namedKey('other', 0)]) })
  const other = await captureFor(s.database, s.tenant, hookUrl('two', '/other'))
  await s.ended(other, 'delivered')
  const waits = `select from webhook_delivery where next_attempt_at > now() + interval '30 seconds' and capture_id = $1`
  await eventually(async () => (await s.database.query(waits, [id])).length === 1, {
    what: 'the unreadable one waits',
  })
})

import t from 'tap'
import { type ReceiverBounds, type AttemptRecord, recordAttempts } from '#webhooks/db/record-attempts.ts'
import { takeDeliveries } from '#webhooks/db/take-deliveries.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { captureFor, hookUrl, startSender } from '#test/helpers/webhook-sender.ts'
import { startWebhookWorld } from '#test/helpers/webhook-world.ts'

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

t.test('webhooks takers: a delivered delivery stays delivered when a late sender reports a failure', async (t) => {
  await using s = await setUp()
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/twice'))
  const take = () => takeDeliveries(s.database, { limit: 1, perAccount: 8, brokenAfter: 5, leaseMs: 60_000 })
  const [late] = await take()
  await s.database.query('update webhook_delivery set leased_until = now()')
  const [other] = await take()
  t.equal(other?.id, late?.id, 'another sender has taken it over')
  const record = (takenAt: string | undefined, attempt: Pick<AttemptRecord, 'status' | 'error' | 'nextMs'>) =>
    recordAttempts(
      s.database,
      [{ id: late?.id ?? '', takenAt: takenAt ?? '', at: new Date(), ms: 1, ...attempt }],
      adapting,
    )
  await record(other?.takenAt, { status: 204, error: null, nextMs: null })
  for (const nextMs of [1, null]) {
    await record(late?.takenAt, { status: null, error: 'timeout', nextMs })
    t.match(await s.deliveries(id), [{ state: 'delivered', next: null }])
  }
  t.same(
    (await s.attempts(id)).map(({ error }) => error),
    [null, 'timeout', 'timeout'],
  )
  t.same(await take(), [])
})

import { createHmac, randomUUID } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import t from 'tap'
import { findCaptures } from '#shared/db/find-capture.ts'
import { removeDeliveries } from '#ledger/remove-expired-rows.ts'
import { toRecord } from '#shared/db/record.ts'
import { captureErrorCodes } from '#shared/errors/catalog.ts'
import { generateSealingKeys } from '#shared/queue/seal.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createTenant } from '#test/helpers/tenant.ts'
import {
  acceptFor,
  addWebhook,
  captureFor,
  endCaptures,
  hookUrl,
  makeDue,
  newTenant,
  startSender,
} from '#test/helpers/webhook-sender.ts'
import { startWebhookWorld } from '#test/helpers/webhook-world.ts'
import { testRecords } from '#test/helpers/record-seal.ts'

const setUp = await startWebhookWorld(t)
type World = Awaited<ReturnType<typeof setUp>>

const firstSent = async (database: World['database'], id: string) => {
  const statement = 'select sent_at::text as at from webhook_delivery where capture_id = $1'
  return (await database.query<{ at: string | null }>(statement, [id])).map(({ at }) => at)
}

/** Whether `sent_at` of the last received body equals that of the capture's delivery and is not before `moment`. */
const isSentAfter = async ({ database, receiver }: World, id: string, moment: string | undefined) => {
  const { sent_at: sentAt } = JSON.parse(receiver.received.at(-1)?.body ?? '') as { sent_at: string }
  const statement = 'select sent_at = $2 and $2 >= $3::timestamptz as after from webhook_delivery where capture_id = $1'
  return (await database.query<{ after: boolean }>(statement, [id, sentAt, moment]))[0]?.after
}

const webhookSecret = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`

// Contract: Events
t.test('webhooks: a completed capture is delivered once to the webhook_url of its request, unsigned', async (t) => {
  await using s = await setUp()
  const sender = await startSender(t, s.on)
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/done?token=secret'))
  await s.ended(id, 'delivered')
  t.equal(s.receiver.received.length, 1)
  const [received] = s.receiver.received
  t.match(received, { path: '/done?token=secret', host: 'one.hooks.example' })
  t.match(received?.headers, { 'content-type': 'application/json' })
  for (const name of ['x-webhook-signature', 'webhook-signature', 'webhook-id', 'webhook-timestamp']) {
    t.equal(received?.headers[name], undefined, `no ${name}`)
  }
  const body = JSON.parse(received?.body ?? '') as { event: string; sent_at: string; data: Record<string, unknown> }
  t.strictSame(Object.keys(body), ['event', 'data', 'sent_at'])
  t.match(body.sent_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  t.equal(body.event, 'screenshot.completed')
  t.strictSame(Object.keys(body.data), [
    'id',
    'status',
    'url',
    'options',
    'file_size',
    'mime_type',
    'width',
    'height',
    'processing_time_ms',
    'image_url',
    'created_at',
    'completed_at',
  ])
  t.match(body.data, {
    id,
    status: 'completed',
    url: 'https://example.com/',
    options: { quality: 80, device: 'desktop', full_page: false },
    file_size: 1234,
    image_url: `https://shots.example/v1/screenshots/${id}/image`,
  })
  t.match(await s.attempts(id), [{ number: 1, status: 204, error: null }])
  await sender.end()
  t.equal(s.receiver.received.length, 1)
})

// Contract: Events
// Contract: Error codes
t.test('webhooks: a failed capture is delivered with the code and message of its record, for every code', async (t) => {
  await using s = await setUp()
  await startSender(t, s.on)
  for (const [index, code] of captureErrorCodes.entries()) {
    const id = await acceptFor(s.database, s.tenant, hookUrl('one', `/${code}`))
    await endCaptures(s.database, [id], 'failed', code)
    await s.ended(id, 'delivered')
    const { event, data } = JSON.parse(s.receiver.received[index]?.body ?? '') as { event: string; data: object }
    t.equal(event, 'screenshot.failed')
    t.strictSame(Object.keys(data), ['id', 'status', 'url', 'error', 'created_at'])
    const [capture] = await findCaptures(s.database, [id])
    const { error } = toRecord(testRecords.openCapture(capture!), '')
    t.match(data, { id, status: 'failed', error: { code, message: 'The page did not load in time.' } })
    t.strictSame((data as { error: object }).error, error)
  }
  t.ok(captureErrorCodes.includes('INVALID_URL'))
})

// Contract: Cache key
t.test('webhooks: a cache hit is delivered with `cached`', async (t) => {
  await using s = await setUp()
  await startSender(t, s.on)
  const id = await acceptFor(s.database, s.tenant, hookUrl('one', '/hit'))
  await s.database.query('update capture set cached = true where id = $1', [id])
  await endCaptures(s.database, [id])
  await s.ended(id, 'delivered')
  t.match(JSON.parse(s.receiver.received[0]?.body ?? ''), { data: { id, cached: true } })
})

// Contract: `sent_at`
t.test('webhooks: a failed attempt is retried with the same bytes', async (t) => {
  await using s = await setUp((_, nth) => (nth === 1 ? 500 : 200))
  await startSender(t, s.on)
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/again'))
  await s.ended(id, 'delivered')
  t.match(await s.attempts(id), [
    { number: 1, status: 500, error: 'status' },
    { number: 2, status: 200, error: null },
  ])
  const [first, second] = s.receiver.received
  t.equal(second?.body, first?.body, 'sent_at included')
  const { sent_at: sentAt } = JSON.parse(first?.body ?? '') as { sent_at: string }
  const checks = await s.database.query(
    `select d.created_at < $2 as after, a.at >= $2::timestamptz - interval '100 milliseconds' as before, d.sent_at = $2 as kept
       from webhook_delivery d join webhook_attempt a on a.delivery_id = d.id and a.number = 1 where d.capture_id = $1`,
    [id, sentAt],
  )
  t.strictSame(checks, [{ after: true, before: true, kept: true }], 'set when the first attempt begins')
})

t.test('webhooks: a delivery fails after its last attempt, and its capture is not changed', async (t) => {
  await using s = await setUp(() => 503)
  await startSender(t, s.on, { retryDelaysMs: [20, 20] })
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/never'))
  await s.ended(id, 'failed')
  t.equal((await s.attempts(id)).length, 3, 'the first one and one after each wait')
  t.match(await s.deliveries(id), [{ next: null, attempts: 3 }])
  t.match(await s.database.query('select status from capture where id = $1', [id]), [{ status: 'completed' }])
})

// Contract: Not followed
t.test('webhooks: a redirect is not followed', async (t) => {
  await using s = await setUp(() => ({ redirect: hookUrl('two', '/elsewhere') }))
  await startSender(t, s.on, { retryDelaysMs: [] })
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/moved'))
  await s.ended(id, 'failed')
  t.match(await s.attempts(id), [{ status: 302, error: 'redirect' }])
  t.strictSame(
    s.receiver.received.map(({ path }) => path),
    ['/moved'],
  )
})

// Contract: Not followed
t.test(
  'webhooks: an attempt fails if the receiver hangs, has no address, a wrong certificate, or is not public',
  async (t) => {
    await using s = await setUp(() => 'hang')
    await startSender(t, s.on, { retryDelaysMs: [], answerMs: 300 })
    const expected = {
      [hookUrl('one', '/hang')]: 'timeout',
      [hookUrl('nowhere', '/')]: 'dns_failed',
      [hookUrl('private', '/')]: 'blocked',
      'https://other.example/': 'tls_failed',
      'https://127.0.0.1:8443/': 'blocked',
    }
    for (const [url, error] of Object.entries(expected)) {
      const id = await captureFor(s.database, s.tenant, url)
      await s.ended(id, 'failed')
      t.match(await s.attempts(id), [{ status: null, error }], `${error} at ${url}`)
    }
    t.equal(s.receiver.received.length, 1, 'only the hanging receiver was reached')
  },
)

// Contract: Not followed
t.test('webhooks: the host name is resolved and its address checked for each attempt', async (t) => {
  let address = '93.184.216.34'
  let resolutions = 0
  const resolve = () => {
    resolutions += 1
    return [address]
  }
  await using s = await setUp(() => 'close', resolve)
  await startSender(t, s.on, { retryDelaysMs: [20, 3_600_000, 20] })
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/rebind'))
  await eventually(async () => (await s.attempts(id)).length === 2)
  t.equal(resolutions, 2, 'once per attempt')
  address = '10.1.2.3'
  await makeDue(s.database)
  await s.ended(id, 'failed')
  t.strictSame(
    (await s.attempts(id)).map(({ error }) => error),
    ['connection_failed', 'connection_failed', 'blocked', 'blocked'],
  )
  t.equal(s.receiver.received.length, 2, 'a private address is not reached')
})

// Contract: Events
// Contract: Signature
// Contract: Both kinds set
t.test(
  "webhooks: an account's webhooks get their subscribed events, signed, in addition to that of the request",
  async (t) => {
    await using s = await setUp()
    await startSender(t, s.on)
    const secret = webhookSecret(7)
    const receiver = { accountId: s.tenant.accountId, secret }
    const hook = await addWebhook(s.database, { ...receiver, url: hookUrl('all', '/all') })
    await addWebhook(s.database, { ...receiver, url: hookUrl('fails', '/fails'), events: ['screenshot.failed'] })
    await addWebhook(s.database, { ...receiver, url: hookUrl('off', '/off'), active: false })
    const stranger = await newTenant(s.database)
    await addWebhook(s.database, { accountId: stranger.accountId, secret, url: hookUrl('foreign', '/foreign') })
    const id = await captureFor(s.database, s.tenant, hookUrl('own', '/own'))
    await s.ended(id, 'delivered')
    t.strictSame(s.receiver.received.map(({ path }) => path).toSorted(), ['/all', '/own'])

    const { headers, body } = s.receiver.received.find(({ path }) => path === '/all')!
    t.equal(headers['x-webhook-signature'], createHmac('sha256', secret).update(body).digest('hex'))
    const sentHeaders = headers as Record<string, string>
    t.strictSame(new StandardWebhook(secret).verify(body, sentHeaders), JSON.parse(body))
    t.doesNotThrow(() => new SvixWebhook(secret).verify(body, sentHeaders))
    t.throws(() => new StandardWebhook(webhookSecret(8)).verify(body, sentHeaders), 'another secret does not verify')
    t.throws(() => new SvixWebhook(secret).verify(`${body} `, sentHeaders), 'nor does another body')
    const [row] = await s.database.query<{ at: Date | null }>(
      'select last_delivery_at as at from webhook where id = $1',
      [hook],
    )
    t.ok(row?.at, 'the time of its last delivery is stored')
  },
)

// Contract: Events
t.test('webhooks: subscribers of batch.completed get one delivery when a batch has ended', async (t) => {
  await using s = await setUp()
  await startSender(t, s.on)
  const receiver = { accountId: s.tenant.accountId, secret: webhookSecret(7) }
  await addWebhook(s.database, { ...receiver, url: hookUrl('batch', '/batch'), events: ['batch.completed'] })
  await addWebhook(s.database, { ...receiver, url: hookUrl('usual', '/usual') })
  const ids = [await acceptFor(s.database, s.tenant), await acceptFor(s.database, s.tenant)]
  const batch = randomUUID()
  await s.database.query('insert into batch (id, account_id, total, created_at) values ($1, $2, 2, now())', [
    batch,
    receiver.accountId,
  ])
  await s.database.query('update capture set batch_id = $1 where id = any ($2::uuid[])', [batch, ids])
  await endCaptures(s.database, [ids[0]!], 'failed')
  await endCaptures(s.database, [ids[1]!])
  await eventually(() => s.receiver.received.length === 3)
  t.strictSame(s.receiver.received.map(({ path }) => path).toSorted(), ['/batch', '/usual', '/usual'])
  t.match(JSON.parse(s.receiver.received.find(({ path }) => path === '/batch')?.body ?? ''), {
    event: 'batch.completed',
    data: { id: batch, status: 'completed', total: 2, completed: 1, failed: 1, created_at: /Z$/ },
  })
})

// Contract: Events
t.test('webhooks: subscribers of quota.warning get one delivery each at 80, 95 and 100 % of the quota', async (t) => {
  await using s = await setUp()
  const tenant = await createTenant(s.database, { screenshots_per_month: 20, overage_price: 0.01 })
  const receiver = { accountId: tenant.accountId, secret: webhookSecret(7) }
  await addWebhook(s.database, { ...receiver, url: hookUrl('quota', '/quota'), events: ['quota.warning'] })
  await addWebhook(s.database, { ...receiver, url: hookUrl('usual', '/usual') })
  const warnings = async () => {
    const rows = await s.database.query<{ subject: { percentage: number; screenshots_used: number } }>(
      `select subject from webhook_delivery where event = 'quota.warning' order by created_at, subject ->> 'percentage'`,
    )
    return rows.map(({ subject }) => [subject.percentage, subject.screenshots_used])
  }
  const ids = []
  for (let used = 0; used < 15; used += 1) ids.push(await acceptFor(s.database, tenant))
  t.strictSame(await warnings(), [], 'no warning below 80 %')
  ids.push(await acceptFor(s.database, tenant))
  t.strictSame(await warnings(), [[80, 16]])
  await endCaptures(s.database, ids.splice(0, 1), 'failed')
  ids.push(await acceptFor(s.database, tenant))
  t.strictSame(await warnings(), [[80, 16]], 'no second warning when the usage falls below 80 % and rises again')
  for (let used = 16; used < 25; used += 1) await acceptFor(s.database, tenant)
  t.strictSame(await warnings(), [
    [80, 16],
    [95, 19],
    [100, 20],
  ])
  await startSender(t, s.on)
  await eventually(() => s.receiver.received.filter(({ path }) => path === '/quota').length === 3)
  for (const { body } of s.receiver.received.filter(({ path }) => path === '/quota')) {
    t.match(JSON.parse(body), { data: { period_start: /^\d{4}-\d\d-01T00:00:00\.000000Z$/ } }, 'formatted as all times')
  }
})

t.test('webhooks: deliveries older than 30 days are removed with their attempts, except pending ones', async (t) => {
  await using s = await setUp()
  const sender = await startSender(t, s.on)
  const old = await captureFor(s.database, s.tenant, hookUrl('one', '/old'))
  const recent = await captureFor(s.database, s.tenant, hookUrl('one', '/recent'))
  await s.ended(old, 'delivered')
  await s.ended(recent, 'delivered')
  await sender.end()
  const waiting = await captureFor(s.database, s.tenant, hookUrl('one', '/waiting'))
  const age = `update webhook_delivery set created_at = now() - interval '31 days' where capture_id = any ($1::uuid[])`
  await s.database.query(age, [[old, waiting]])
  t.equal(await removeDeliveries(s.database, 30, 1000), 1)
  t.strictSame([await s.deliveries(old), await s.attempts(old)], [[], []])
  t.equal((await s.deliveries(recent)).length + (await s.deliveries(waiting)).length, 2)
})

// Contract: `sent_at`
t.test('webhooks: a delivery that waits because egress is down has no attempt', async (t) => {
  await using s = await setUp()
  const sender = await startSender(t, { ...s.on, egressPort: 1 }, { retryDelaysMs: [] })
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/later'))
  await eventually(async () => (await s.deliveries(id))[0]?.putOff === true)
  t.strictSame(await s.attempts(id), [])
  await sender.end()
  t.strictSame(await firstSent(s.database, id), [null], 'not sent yet')
  const [back] = await s.database.query<{ at: string }>('select now()::text as at')
  await startSender(t, s.on)
  await s.ended(id, 'delivered')
  t.ok(await isSentAfter(s, id, back?.at), 'sent_at is the time of the first real attempt')
})

// Contract: `sent_at`
t.test(
  'webhooks: sent_at of a delivery that could not be signed is the time of its first signed attempt',
  async (t) => {
    await using s = await setUp()
    const { private: openingKey } = generateSealingKeys()
    const webhook = { accountId: s.tenant.accountId, url: hookUrl('one', '/hook'), secret: webhookSecret(1) }
    await addWebhook(s.database, webhook)
    const mistaken = await startSender(t, s.on, { openingKey })
    const id = await captureFor(s.database, s.tenant)
    await eventually(async () => (await s.deliveries(id))[0]?.putOff === true)
    await mistaken.end()
    t.strictSame(await firstSent(s.database, id), [null])
    const [back] = await s.database.query<{ at: string }>(
      'update webhook_delivery set next_attempt_at = now() where capture_id = $1 returning now()::text as at',
      [id],
    )
    await startSender(t, s.on)
    await s.ended(id, 'delivered')
    t.ok(await isSentAfter(s, id, back?.at))
  },
)

// Contract: `sent_at`
t.test('webhooks: a retried delivery keeps its bytes while egress is down', async (t) => {
  await using s = await setUp((_, nth) => (nth === 1 ? 500 : 200))
  const first = await startSender(t, s.on, { retryDelaysMs: [1] })
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/kept'))
  await eventually(() => s.receiver.received.length > 0)
  await first.end()
  const again = `update webhook_delivery set state = 'pending', next_attempt_at = created_at where capture_id = $1`
  await s.database.query(again, [id])
  const before = await firstSent(s.database, id)
  const away = await startSender(t, { ...s.on, egressPort: 1 })
  await eventually(async () => (await s.deliveries(id))[0]?.putOff === true)
  await away.end()
  t.strictSame(await firstSent(s.database, id), before)
  await startSender(t, s.on)
  await s.ended(id, 'delivered')
  t.equal(new Set(s.receiver.received.map(({ body }) => body)).size, 1)
})

t.test('webhooks: a stopping sender finishes the deliveries in flight', async (t) => {
  const gate = Promise.withResolvers<void>()
  await using s = await setUp(async () => {
    await gate.promise
    return 200
  })
  const sender = await startSender(t, s.on)
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/last'))
  await eventually(() => s.receiver.received.length === 1)
  const ended = sender.end()
  gate.resolve()
  await ended
  t.match(await s.deliveries(id), [{ state: 'delivered', attempts: 1 }])
})

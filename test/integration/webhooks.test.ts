import { createHmac, randomUUID } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import t from 'tap'
import type { Database } from '#shared/db/connection.ts'
import { forgetOld } from '#webhooks/forget-old.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant, type Tenant } from '#test/helpers/tenant.ts'
import { type Behaviour, makeCertificate, startReceiver } from '#test/helpers/webhook-receiver.ts'
import {
  acceptFor,
  addWebhook,
  captureFor,
  endCaptures,
  hookNames,
  hookUrl,
  newTenant,
  startReceiverFilter,
  startSender,
} from '#test/helpers/webhook-sender.ts'

const server = await startPostgres(t)
const certificate = await makeCertificate(hookNames)
t.teardown(() => certificate[Symbol.asyncDispose]())
const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`

type Row = { state: string; attempts: number; next: string | null; putOff: boolean }

const setUp = async (behave: (path: string, nth: number) => Behaviour | Promise<Behaviour> = () => 204) => {
  const database = await server.createDatabase()
  const receiver = await startReceiver(certificate, behave)
  const filter = await startReceiverFilter(receiver)
  const tenant = await newTenant(database)
  const on = { database, egressPort: filter.port, certificate }
  const deliveries = (captureId: string) =>
    database.query<Row>(
      `select state, attempts, next_attempt_at as next, body is not null and next_attempt_at > sent_at as "putOff"
         from webhook_delivery where capture_id = $1`,
      [captureId],
    )
  const attempts = (captureId: string) =>
    database.query<{ number: number; status: number | null; error: string | null; ms: number }>(
      `select a.number, a.status, a.error, a.ms from webhook_attempt a join webhook_delivery d on d.id = a.delivery_id
        where d.capture_id = $1 order by a.number`,
      [captureId],
    )
  const ended = (id: string, state: string) =>
    eventually(async () => (await deliveries(id)).every((row) => row.state === state), { what: `all are ${state}` })
  return {
    database,
    receiver,
    filter,
    tenant,
    on,
    deliveries,
    attempts,
    ended,
    [Symbol.asyncDispose]: async () => {
      await filter[Symbol.asyncDispose]()
      await receiver[Symbol.asyncDispose]()
    },
  }
}

t.test('a capture that ends is told once to the address that its request named, unsigned', async (t) => {
  await using s = await setUp()
  const sender = await startSender(t, s.on)
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/done?token=secret'))
  await s.ended(id, 'delivered')
  t.equal(s.receiver.received.length, 1)
  const [got] = s.receiver.received
  t.match(got, { path: '/done?token=secret', host: 'one.hooks.example' })
  t.match(got?.headers, { 'content-type': 'application/json' })
  for (const name of ['x-webhook-signature', 'webhook-signature', 'webhook-id', 'webhook-timestamp']) {
    t.equal(got?.headers[name], undefined, `no ${name}`)
  }
  const body = JSON.parse(got?.body ?? '') as { event: string; sent_at: string; data: Record<string, unknown> }
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

t.test('a capture that fails is told with its code and message', async (t) => {
  await using s = await setUp()
  await startSender(t, s.on)
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/failed'), 'failed')
  await s.ended(id, 'delivered')
  const { event, data } = JSON.parse(s.receiver.received[0]?.body ?? '') as { event: string; data: object }
  t.equal(event, 'screenshot.failed')
  t.strictSame(Object.keys(data), ['id', 'status', 'url', 'error', 'created_at'])
  t.match(data, { id, status: 'failed', error: { code: 'TIMEOUT', message: 'The page did not load in time.' } })
})

// Contract: Cache key
t.test('a hit of the cache says so', async (t) => {
  await using s = await setUp()
  await startSender(t, s.on)
  const id = await acceptFor(s.database, s.tenant, hookUrl('one', '/hit'))
  await s.database.query('update capture set cached = true where id = $1', [id])
  await endCaptures(s.database, [id])
  await s.ended(id, 'delivered')
  t.match(JSON.parse(s.receiver.received[0]?.body ?? ''), { data: { id, cached: true } })
})

t.test('an attempt that fails is made again, with the same bytes', async (t) => {
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
})

t.test('after the last attempt the delivery has failed, and the capture is as it was', async (t) => {
  await using s = await setUp(() => 503)
  await startSender(t, s.on, { waitsMs: [20, 20] })
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/never'))
  await s.ended(id, 'failed')
  t.equal((await s.attempts(id)).length, 3, 'the first and one after each wait')
  t.match(await s.deliveries(id), [{ next: null, attempts: 3 }])
  t.match(await s.database.query('select status from capture where id = $1', [id]), [{ status: 'completed' }])
})

t.test('a redirect is not followed', async (t) => {
  await using s = await setUp(() => ({ redirect: hookUrl('two', '/elsewhere') }))
  await startSender(t, s.on, { waitsMs: [] })
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/moved'))
  await s.ended(id, 'failed')
  t.match(await s.attempts(id), [{ status: 302, error: 'redirect' }])
  t.strictSame(
    s.receiver.received.map(({ path }) => path),
    ['/moved'],
  )
})

t.test(
  'an attempt fails where the receiver hangs, has no address, a wrong certificate, or is not public',
  async (t) => {
    await using s = await setUp(() => 'hang')
    await startSender(t, s.on, { waitsMs: [], answerMs: 300 })
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
    t.equal(s.receiver.received.length, 1, 'only the one that hangs was reached')
  },
)

t.test('the address is looked up and judged at each attempt', async (t) => {
  await using s = await setUp(() => 500)
  await startSender(t, s.on, { waitsMs: [20, 20] })
  const id = await acceptFor(s.database, s.tenant, hookUrl('one', '/rebind'))
  await endCaptures(s.database, [id])
  await eventually(async () => (await s.attempts(id)).length > 0)
  await s.database.query(`update webhook_delivery set url = $1`, [hookUrl('private', '/rebind')])
  await s.ended(id, 'failed')
  t.equal((await s.attempts(id)).at(-1)?.error, 'blocked')
})

t.test('webhooks of the account are told what they asked for, signed; both kinds are sent', async (t) => {
  await using s = await setUp()
  await startSender(t, s.on)
  const secret = secretOf(7)
  const of = { accountId: s.tenant.accountId, secret }
  const hook = await addWebhook(s.database, { ...of, url: hookUrl('all', '/all') })
  await addWebhook(s.database, { ...of, url: hookUrl('fails', '/fails'), events: ['screenshot.failed'] })
  await addWebhook(s.database, { ...of, url: hookUrl('off', '/off'), active: false })
  const stranger = await newTenant(s.database)
  await addWebhook(s.database, { accountId: stranger.accountId, secret, url: hookUrl('foreign', '/foreign') })
  const id = await captureFor(s.database, s.tenant, hookUrl('own', '/own'))
  await s.ended(id, 'delivered')
  t.strictSame(s.receiver.received.map(({ path }) => path).toSorted(), ['/all', '/own'])

  const { headers, body } = s.receiver.received.find(({ path }) => path === '/all')!
  t.equal(headers['x-webhook-signature'], createHmac('sha256', secret).update(body).digest('hex'))
  const given = headers as Record<string, string>
  t.strictSame(new StandardWebhook(secret).verify(body, given), JSON.parse(body))
  t.doesNotThrow(() => new SvixWebhook(secret).verify(body, given))
  t.throws(() => new StandardWebhook(secretOf(8)).verify(body, given), 'another secret does not fit')
  t.throws(() => new SvixWebhook(secret).verify(`${body} `, given), 'nor another body')
  const [row] = await s.database.query<{ at: Date | null }>(
    'select last_delivery_at as at from webhook where id = $1',
    [hook],
  )
  t.ok(row?.at, 'it is noted when it was told last')
})

t.test('a webhook that asks for it is told once that a batch has ended', async (t) => {
  await using s = await setUp()
  await startSender(t, s.on)
  const of = { accountId: s.tenant.accountId, secret: secretOf(7) }
  await addWebhook(s.database, { ...of, url: hookUrl('batch', '/batch'), events: ['batch.completed'] })
  await addWebhook(s.database, { ...of, url: hookUrl('usual', '/usual') })
  const ids = [await acceptFor(s.database, s.tenant), await acceptFor(s.database, s.tenant)]
  const batch = randomUUID()
  await s.database.query('insert into batch (id, account_id, total, created_at) values ($1, $2, 2, now())', [
    batch,
    of.accountId,
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

t.test('a webhook that asks for it is warned once at 80, 95 and 100 % of the quota', async (t) => {
  await using s = await setUp()
  const tenant = await createTenant(s.database, { screenshots_per_month: 20, overage_price: 0.01 })
  const of = { accountId: tenant.accountId, secret: secretOf(7) }
  await addWebhook(s.database, { ...of, url: hookUrl('quota', '/quota'), events: ['quota.warning'] })
  await addWebhook(s.database, { ...of, url: hookUrl('usual', '/usual') })
  const told = async () => {
    const rows = await s.database.query<{ subject: { percentage: number; screenshots_used: number } }>(
      `select subject from webhook_delivery where event = 'quota.warning' order by created_at, subject ->> 'percentage'`,
    )
    return rows.map(({ subject }) => [subject.percentage, subject.screenshots_used])
  }
  const ids = []
  for (let used = 0; used < 15; used += 1) ids.push(await acceptFor(s.database, tenant))
  t.strictSame(await told(), [], 'nothing below')
  ids.push(await acceptFor(s.database, tenant))
  t.strictSame(await told(), [[80, 16]])
  await endCaptures(s.database, ids.splice(0, 1), 'failed')
  ids.push(await acceptFor(s.database, tenant))
  t.strictSame(await told(), [[80, 16]], 'a use that fell back and rises again is not news')
  for (let used = 16; used < 25; used += 1) await acceptFor(s.database, tenant)
  t.strictSame(await told(), [
    [80, 16],
    [95, 19],
    [100, 20],
  ])
})

t.test('deliveries that ended a month ago are forgotten with their attempts, waiting ones are not', async (t) => {
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
  const stop = new AbortController()
  const forgotten = Promise.withResolvers<number>()
  const turnFailed = (error: Error) => forgotten.reject(error)
  const running = forgetOld({ database: s.database, events: { forgotten: forgotten.resolve, turnFailed } }, stop.signal)
  t.equal(await forgotten.promise, 1)
  stop.abort()
  await running
  t.strictSame([await s.deliveries(old), await s.attempts(old)], [[], []])
  t.equal((await s.deliveries(recent)).length + (await s.deliveries(waiting)).length, 2)
})

const mostInFlight = (database: Database) =>
  database.query<{ many: number }>(
    `select count(*)::integer as many from webhook_delivery where leased_until > now() group by account_id, host`,
  )

t.test('at most two deliveries of an account to a host are in flight, over all senders', async (t) => {
  const gate = Promise.withResolvers<void>()
  await using s = await setUp(async () => {
    await gate.promise
    return 200
  })
  const url = hookUrl('slow', '/slow/x')
  const ids = await Promise.all(Array.from({ length: 12 }, () => acceptFor(s.database, s.tenant, url)))
  await endCaptures(s.database, ids)
  await Promise.all([startSender(t, s.on), startSender(t, s.on), startSender(t, s.on)])
  await eventually(() => s.receiver.mostAtOnce('slow') === 2)
  t.strictSame(await mostInFlight(s.database), [{ many: 2 }])
  gate.resolve()
  await Promise.all(ids.map((id) => s.ended(id, 'delivered')))
  t.equal(s.receiver.mostAtOnce('slow'), 2)
  t.equal(s.receiver.received.length, 12, 'each once')
})

t.test('receivers of one account that hang delay nobody else', async (t) => {
  await using s = await setUp((path) => (path.startsWith('/hang') ? 'hang' : 200))
  const dead = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      acceptFor(s.database, s.tenant, hookUrl(`dead${index}`, `/hang/${index}`)),
    ),
  )
  await endCaptures(s.database, dead)
  // Bounds at which the dead receivers alone would fill the sender.
  await startSender(t, s.on, { answerMs: 60_000, inFlightMax: 16 })
  await eventually(() => s.receiver.received.length === 2, { what: 'the account fills its share' })
  const others: Tenant[] = []
  for (let made = 0; made < 5; made += 1) others.push(await newTenant(s.database))
  const ids = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      acceptFor(s.database, others[index % 5]!, hookUrl('alive', `/alive/${index}`)),
    ),
  )
  await endCaptures(s.database, ids)
  await Promise.all(ids.map((id) => s.ended(id, 'delivered')))
  t.equal(s.receiver.received.filter(({ path }) => path.startsWith('/alive')).length, 50, 'each once')
  t.equal(s.receiver.received.filter(({ path }) => path.startsWith('/hang')).length, 2, 'its share and no more')
  await s.filter.drain(0)
})

t.test('a connection is used again for the same account and host, and not for another account', async (t) => {
  await using s = await setUp()
  await startSender(t, s.on)
  const other = await newTenant(s.database)
  for (const tenant of [s.tenant, s.tenant, s.tenant, other]) {
    const id = await captureFor(s.database, tenant, hookUrl('one', '/kept'))
    await s.ended(id, 'delivered')
  }
  t.equal(s.receiver.connections(), 2)
})

t.test('what waits while the egress filter is away is not counted as an attempt', async (t) => {
  await using s = await setUp()
  const sender = await startSender(t, { ...s.on, egressPort: 1 }, { waitsMs: [] })
  const id = await captureFor(s.database, s.tenant, hookUrl('one', '/later'))
  await eventually(async () => (await s.deliveries(id))[0]?.putOff === true)
  t.strictSame(await s.attempts(id), [])
  await sender.end()
  await startSender(t, s.on)
  await s.ended(id, 'delivered')
})

t.test('a sender that is stopped finishes what is in flight', async (t) => {
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

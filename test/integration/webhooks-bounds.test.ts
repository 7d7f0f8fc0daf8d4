import { randomUUIDv7 } from 'node:crypto'
import { createServer } from 'node:net'
import t from 'tap'
import { noTargets } from '#gateway/db/targets-cache.ts'
import { parseCapture } from '#gateway/parameters/parse-capture.ts'
import { webhookRetries } from '#shared/config/settings/webhooks.ts'
import { redeliver } from '#gateway/db/deliveries.ts'
import { prepareCapture } from '#gateway/capture/prepare-capture.ts'
import { createBodyReader } from '#gateway/http/input.ts'
import { checkWebhook, newWebhook } from '#gateway/operations/webhooks/webhook-fields.ts'
import { attemptBounds } from '#webhooks/context.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createTestContext } from '#test/helpers/gateway-context.ts'
import type { Database } from '#shared/db/connection.ts'
import type { Tenant } from '#test/helpers/tenant.ts'
import {
  acceptFor,
  captureFor,
  endCaptures,
  hookUrl,
  makeDue,
  newTenant,
  startSender,
} from '#test/helpers/webhook-sender.ts'
import { startWebhookWorld } from '#test/helpers/webhook-world.ts'

const setUp = await startWebhookWorld(t)

/** Seconds from the end of the latest attempt to the next one. */
const nextWaitSeconds = async (database: Database) => {
  const [row] = await database.query<{ seconds: number }>(
    `select extract(epoch from d.next_attempt_at - a.at)::float8 - a.ms / 1000.0 as seconds
       from webhook_delivery d join webhook_attempt a on a.delivery_id = d.id and a.number = d.attempts`,
  )
  return row?.seconds ?? 0
}

// Contract: Schedule
t.test(
  'webhooks bounds: a delivery is attempted immediately and after each wait of its schedule, then it fails',
  async (t) => {
    const schedules = [
      { schedule: webhookRetries.fallback, random: 0, waits: [30, 120, 600] },
      { schedule: 'B', random: 1, waits: [11, 66, 330] },
      { schedule: '1h', random: 0.5, waits: [3780] },
    ]
    for (const { schedule, random, waits } of schedules) {
      await using s = await setUp(() => 500)
      const parsed = webhookRetries.parse(schedule ?? '')
      const sender = await startSender(t, s.on, { retryDelaysMs: parsed.ok ? parsed.value : [], random })
      const id = await captureFor(s.database, s.tenant, hookUrl('one', '/late'))
      for (const [index, wait] of waits.entries()) {
        await eventually(async () => (await s.attempts(id)).length === index + 1)
        const seconds = await nextWaitSeconds(s.database)
        t.ok(seconds > wait - 0.1 && seconds < wait + 20, `${schedule}: ${seconds} s after attempt ${index + 1}`)
        await makeDue(s.database)
      }
      await s.ended(id, 'failed')
      t.equal((await s.attempts(id)).length, waits.length + 1)
      await sender.end()
    }
  },
)

// Contract: Schedule
t.test('webhooks bounds: the connection and the whole response have timeouts', async (t) => {
  t.strictSame(attemptBounds, { connectMs: 10_000, answerMs: 30_000 })
  await using s = await setUp(() => 'begin')
  const slow = await startSender(t, s.on, { retryDelaysMs: [], answerMs: 300 })
  const begun = await captureFor(s.database, s.tenant, hookUrl('one', '/begun'))
  await s.ended(begun, 'failed')
  t.match(await s.attempts(begun), [{ status: 200, error: 'timeout' }], 'a response that does not end')
  await slow.end()
  await using silent = await listening(createServer())
  await startSender(t, { ...s.on, egressPort: silent.port }, { retryDelaysMs: [], connectMs: 100 })
  const unconnected = await captureFor(s.database, s.tenant, hookUrl('one', '/unconnected'))
  await s.ended(unconnected, 'failed')
  t.match(await s.attempts(unconnected), [{ status: null, error: 'timeout' }], 'a connection that is not established')
  t.equal(s.receiver.received.length, 1)
})

const mostInFlight = (database: Database) =>
  database.query<{ many: number }>(
    `select count(*)::integer as many from webhook_delivery where leased_until > now() group by account_id, host`,
  )

// Contract: Fairness
t.test(
  'webhooks bounds: a new receiver gets two concurrent deliveries of an account, across all senders',
  async (t) => {
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
    t.equal(s.receiver.received.length, 12, 'each delivery once')
  },
)

// Contract: Fairness
t.test('webhooks bounds: different spellings of a URL count as one host', async (t) => {
  await using s = await setUp()
  const spellings = [
    'HTTPS://One.Hooks.example',
    '  https://one.hooks.example./b ',
    'https://u:p%40@one.hooks.example:0443/c',
  ]
  const urls = [
    'https://one.hooks.example/a',
    ...spellings,
    'https:\\\\one%2Ehooks.example?d',
    'https:one.hooks.example#e',
  ]
  const ids: string[] = []
  for (const url of urls) {
    const parsed = parseCapture({ url: 'https://example.com/', webhook_url: url }, { allow: [], hasStealth: true })
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors))
    const { webhookUrl } = await prepareCapture(createTestContext(), { id: randomUUIDv7(), parsed, targets: noTargets })
    t.equal(
      new URL(createBodyReader(newWebhook, checkWebhook)({ url }, { allowTargets: [] }).url).href,
      webhookUrl,
      'webhooks of requests and of accounts are normalized alike',
    )
    ids.push(await acceptFor(s.database, s.tenant, webhookUrl))
  }
  await endCaptures(s.database, ids)
  const hosts = await s.database.query('select host, count(*)::integer as many from webhook_delivery group by host')
  t.strictSame(hosts, [{ host: 'one.hooks.example', many: urls.length }])
})

// Contract: Fairness
t.test('webhooks bounds: hanging receivers of one account do not delay deliveries of others', async (t) => {
  await using s = await setUp((path) => (path.startsWith('/hang') ? 'hang' : 200))
  const dead = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      acceptFor(s.database, s.tenant, hookUrl(`dead${index}`, `/hang/${index}`)),
    ),
  )
  await endCaptures(s.database, dead)
  // With these bounds the hanging receivers alone could occupy the whole sender.
  await startSender(t, s.on, { answerMs: 60_000, inFlightMax: 16 })
  await eventually(() => s.receiver.received.length === 2, { what: 'the account uses its share' })
  const others: Tenant[] = []
  for (let created = 0; created < 5; created += 1) others.push(await newTenant(s.database))
  const ids = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      acceptFor(s.database, others[index % 5]!, hookUrl('alive', `/alive/${index}`)),
    ),
  )
  await endCaptures(s.database, ids)
  await Promise.all(ids.map((id) => s.ended(id, 'delivered')))
  t.equal(s.receiver.received.filter(({ path }) => path.startsWith('/alive')).length, 50, 'each delivery once')
  t.equal(s.receiver.received.filter(({ path }) => path.startsWith('/hang')).length, 2, 'only its share')
  await s.filter.drain(0)
})

t.test('webhooks bounds: a connection is reused for the same account and host, not for another account', async (t) => {
  await using s = await setUp()
  await startSender(t, s.on)
  const other = await newTenant(s.database)
  for (const tenant of [s.tenant, s.tenant, s.tenant, other]) {
    const id = await captureFor(s.database, tenant, hookUrl('one', '/kept'))
    await s.ended(id, 'delivered')
  }
  t.equal(s.receiver.connections(), 2)
})

t.test(
  'webhooks bounds: a redelivery that is requested during an attempt is sent after it, whatever its outcome',
  async (t) => {
    const first = new Map(['/taken', '/failed'].map((path) => [path, Promise.withResolvers<number>()]))
    await using s = await setUp((path, nth) => (nth === 1 ? (first.get(path)?.promise ?? 500) : 204))
    await startSender(t, s.on)
    for (const [path, status] of [
      ['/taken', 204],
      ['/failed', 500],
    ] as const) {
      const id = await captureFor(s.database, s.tenant, hookUrl('one', path))
      const received = () => s.receiver.received.filter((each) => each.path === path)
      await eventually(() => received().length === 1)
      const [{ id: delivery } = { id: '' }] = await s.database.query<{ id: string }>(
        'select id from webhook_delivery where capture_id = $1',
        [id],
      )
      t.ok(await redeliver(s.database, { accountId: s.tenant.accountId, captureId: id }, delivery))
      first.get(path)?.resolve(status)
      await eventually(() => received().length === 2, { what: `${path} is redelivered` })
      await s.ended(id, 'delivered')
      t.match(await s.attempts(id), [
        { number: 1, status },
        { number: 2, status: 204 },
      ])
      t.equal(new Set(received().map(({ body }) => body)).size, 1, 'the same bytes')
    }
  },
)

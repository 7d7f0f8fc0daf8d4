import { randomUUID } from 'node:crypto'
import { createHmac } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import type { Tenant } from '#test/helpers/tenant.ts'
import { makeCertificate, startReceiver } from '#test/helpers/webhook-receiver.ts'
import {
  captureFor,
  hookNames,
  hookUrl,
  newTenant,
  startReceiverFilter,
  startSender,
} from '#test/helpers/webhook-sender.ts'

const gateway = await startGateway(t, { PUBLIC_URL: 'https://shots.example' })
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)

type Fields = Record<string, unknown>
type Body = { data: Fields; error: { code: string; message: string; details: Record<string, string[]> } }
type Listed = { data: Fields[]; meta: { per_page: number; next_cursor: string | null } }

const callWith = (key: string) => {
  const request = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${baseUrl}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as unknown }
  }
  const call = async (...parameters: Parameters<typeof request>) => {
    const { status, body } = await request(...parameters)
    return { status, body: body as Body }
  }
  const listed = async (path: string) => (await request('GET', path)).body as Listed
  return { call, listed }
}

const newKey = async (accountId: string) =>
  (await createKey(database, { accountId, name: 'key', domains: [], pepper: testPepper })).key

const newCaller = async (plan = 'unlimited') => {
  const { id: accountId } = await createAccount(database, { name: 'A', email: 'a@example.com', plan })
  return { accountId, ...callWith(await newKey(accountId)) }
}

/** A caller whose captures a test can accept and end. */
const newTenantCaller = async (): Promise<{ tenant: Tenant } & ReturnType<typeof callWith>> => {
  const tenant = await newTenant(database)
  return { tenant, ...callWith(await newKey(tenant.accountId)) }
}

const url = 'https://hooks.example/in?token=secret'
const unknown = '00000000-0000-4000-8000-000000000000'

// Contract: User-level webhooks
// Contract: User-level envelopes
// Contract: Events
t.test('gateway webhooks: a webhook is created, read, changed and deleted; its secret is returned once', async (t) => {
  const { call, listed } = await newCaller()
  const created = await call('POST', '/webhooks', { url })
  t.equal(created.status, 200)
  const { secret, ...webhook } = created.body.data
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.strictSame(Object.keys(webhook).toSorted(), [
    'active',
    'created_at',
    'description',
    'events',
    'id',
    'last_delivery_at',
    'url',
  ])
  t.match(webhook, {
    url: 'https://hooks.example/in?***',
    description: '',
    active: true,
    created_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/,
    last_delivery_at: null,
  })
  t.strictSame(webhook['events'], ['screenshot.completed', 'screenshot.failed'], 'other events must be requested')
  const path = `/webhooks/${String(webhook['id'])}`
  t.strictSame((await call('GET', path)).body.data, webhook)
  t.strictSame((await listed('/webhooks')).data, [webhook])
  const changes = { events: ['screenshot.failed', 'quota.warning'], description: 'ops', active: false }
  const changed = await call('PATCH', path, changes)
  t.equal(changed.status, 200)
  t.strictSame(changed.body.data, { ...webhook, ...changes })
  t.equal((await call('DELETE', path)).status, 204)
  t.equal((await call('DELETE', path)).status, 404)
  t.strictSame((await listed('/webhooks')).data, [])

  const dump = await database.query<{ row: string }>('select s::text as row from webhook_secret s')
  const raw = Buffer.from(String(secret)).toString('hex')
  t.notOk(
    dump.some(({ row }) => row.includes(raw)),
    'the secret is not stored in clear text',
  )
})

t.test('gateway webhooks: all invalid fields are reported together, by name', async (t) => {
  const { call } = await newCaller()
  const wrong = { url: 'http://hooks.example/', events: ['nothing'], description: 'a\u0000', active: 'yes', colour: 1 }
  const refused = await call('POST', '/webhooks', wrong)
  t.match(refused, { status: 422, body: { error: { code: 'VALIDATION_ERROR' } } })
  t.strictSame(Object.keys(refused.body.error.details).toSorted(), [
    'active',
    'colour',
    'description',
    ...['events.0', 'url'],
  ])
  const urls = [
    'https://127.0.0.1/',
    'https://localhost/',
    'https://hooks.example:25/',
    `https://h.example/${'a'.repeat(2048)}`,
    '',
  ]
  for (const each of urls) {
    const { status, body } = await call('POST', '/webhooks', { url: each })
    t.strictSame([status, Object.keys(body.error.details)], [422, ['url']], each.slice(0, 40))
  }
  t.match(await call('POST', '/webhooks', {}), { status: 422, body: { error: { details: { url: ['is required'] } } } })
  for (const events of [[], ['screenshot.failed', 'screenshot.failed'], 'screenshot.failed']) {
    t.match(await call('POST', '/webhooks', { url, events }), { status: 422 }, JSON.stringify(events))
  }
  t.match(await call('POST', '/webhooks', [1]), { status: 422 })
  const anyone = '/webhooks/00000000-0000-4000-8000-000000000000'
  for (const [method, path] of [
    ['GET', '/webhooks'],
    ['POST', '/webhooks'],
    ['PATCH', anyone],
    ['DELETE', anyone],
    ['POST', `${anyone}/test`],
    ['POST', `${anyone}/rotate-secret`],
    ['POST', `${anyone}/deliveries/${randomUUID()}/redeliver`],
  ] as const) {
    t.match(await call(method, `${path}?page=1`), { status: 422 }, `${method} ${path}`)
  }
})

t.test('gateway webhooks: an account has at most 20 webhooks, under concurrency too', async (t) => {
  const { call, listed } = await newCaller()
  const answers = await Promise.all(Array.from({ length: 24 }, () => call('POST', '/webhooks', { url })))
  t.equal(answers.filter(({ status }) => status === 200).length, 20)
  t.match(answers.find(({ status }) => status === 422)?.body.error.details, { url: [/at most 20/] })
  t.equal((await listed('/webhooks')).data.length, 20)
})

t.test('gateway webhooks: a plan without webhooks can neither create nor test one', async (t) => {
  const { accountId, call } = await newCaller('starter')
  const created = await call('POST', '/webhooks', { url })
  await database.query(`update account set plan = 'free' where id = $1`, [accountId])
  const refused = { status: 403, body: { error: { code: 'FEATURE_NOT_AVAILABLE', message: /webhooks/ } } }
  t.match(await call('POST', '/webhooks', { url }), refused)
  const path = `/webhooks/${String(created.body.data['id'])}`
  t.match(await call('POST', `${path}/test`), refused)
  t.match(await call('POST', '/webhooks', { url: 'nothing' }), { status: 422 }, 'the body is validated first')
  t.equal((await call('DELETE', path)).status, 204, 'existing webhooks can be deleted')
})

// Contract: Another account's id, malformed id
// Contract: User-level webhooks
t.test('gateway webhooks: foreign, unknown and malformed ids of webhooks and deliveries are 404', async (t) => {
  const owner = await newCaller()
  const { call } = await newCaller()
  const created = await owner.call('POST', '/webhooks', { url })
  const own = String(created.body.data['id'])
  const delivery = String((await owner.call('POST', `/webhooks/${own}/test`)).body.data['id'])
  for (const id of [own, unknown, 'x']) {
    const path = `/webhooks/${id}`
    const requests: [string, string, unknown?][] = [
      ['GET', path],
      ['PATCH', path, { active: false }],
      ['DELETE', path],
      ['POST', `${path}/test`],
      ['POST', `${path}/rotate-secret`],
      ['GET', `${path}/deliveries`],
      ['POST', `${path}/deliveries/${delivery}/redeliver`],
      ['GET', `/screenshots/${id}/deliveries`],
      ['POST', `/screenshots/${id}/deliveries/${delivery}/redeliver`],
    ]
    for (const each of requests) {
      t.match(await call(...each), { status: 404, body: { error: { code: 'NOT_FOUND' } } }, each.join(' '))
    }
  }
  t.match(await owner.call('GET', `/webhooks/${own}`), { status: 200, body: { data: { active: true } } })
  t.equal((await owner.call('POST', `/webhooks/${own}/deliveries/${unknown}/redeliver`)).status, 404)
  t.match(await call('PUT', `/webhooks/${own}`), { status: 405 })
})

// Contract: User-level webhooks
// Contract: User-level envelopes
// Contract: Events
// Contract: Signature
t.test('gateway webhooks: a test delivery is sent, logged with its attempts, and redelivered on request', async (t) => {
  await using certificate = await makeCertificate(hookNames)
  await using receiver = await startReceiver(certificate, (_, nth) => (nth === 1 ? 410 : 200))
  await using filter = await startReceiverFilter(receiver)
  const environment = { database, egressPort: filter.port, certificate }
  const sender = await startSender(t, environment, { openingKey: gateway.webhookOpeningKey, retryDelaysMs: [] })
  const { call, listed } = await newCaller()
  const created = await call('POST', '/webhooks', { url: hookUrl('test', '/in?token=hidden'), active: false })
  const secret = String(created.body.data['secret'])
  const path = `/webhooks/${String(created.body.data['id'])}`
  const queued = await call('POST', `${path}/test`)
  t.equal(queued.status, 202)
  t.strictSame(Object.keys(queued.body.data), ['id'])
  const id = String(queued.body.data['id'])
  const first = async () => (await listed(`${path}/deliveries`)).data[0] as Fields & { attempts: Fields[] }
  await eventually(async () => (await first()).status === 'failed')
  t.match(await first(), {
    id,
    event: 'webhook.test',
    screenshot_id: null,
    webhook_id: created.body.data['id'],
    url: 'https://test.hooks.example/in?***',
    next_attempt_at: null,
    attempts: [{ number: 1, status: 410, error: 'status', ms: Number }],
  })
  t.match(await call('POST', `${path}/deliveries/${id}/redeliver`), { status: 202, body: { data: { id } } })
  await eventually(async () => (await first()).status === 'delivered')
  t.match((await first()).attempts, [{ number: 1 }, { number: 2, status: 200, error: null }])
  t.equal(receiver.received[1]?.body, receiver.received[0]?.body, 'the same bytes')
  t.match(JSON.parse(receiver.received[0]?.body ?? ''), { event: 'webhook.test', data: { id } })
  t.ok((await call('GET', path)).body.data['last_delivery_at'])

  const rotated = await call('POST', `${path}/rotate-secret`)
  t.equal(rotated.status, 200)
  const newer = String(rotated.body.data['secret'])
  t.not(newer, secret)
  t.match(newer, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.strictSame(Object.keys(rotated.body.data).toSorted(), Object.keys(created.body.data).toSorted())
  await call('POST', `${path}/test`)
  await eventually(() => receiver.received.length === 3)
  const { headers, body } = receiver.received[2]!
  const sentHeaders = headers as Record<string, string>
  t.equal(
    sentHeaders['x-webhook-signature'],
    createHmac('sha256', newer).update(body).digest('hex'),
    'signed with the new secret only',
  )
  for (const each of [newer, secret]) {
    t.ok(new StandardWebhook(each).verify(body, sentHeaders), 'both secrets verify for a day')
    t.doesNotThrow(() => new SvixWebhook(each).verify(body, sentHeaders))
  }
  const [left] = await database.query<{ hours: number }>(
    'select extract(epoch from previous_until - now())::float8 / 3600 as hours from webhook_secret where webhook_id = $1',
    [created.body.data['id']],
  )
  t.ok((left?.hours ?? 0) > 23.9 && (left?.hours ?? 25) <= 24, `${left?.hours} hours`)
  await database.query(`update webhook_secret set previous_until = now()`)
  await call('POST', `${path}/test`)
  await eventually(() => receiver.received.length === 4)
  const later = receiver.received[3]!
  t.throws(() => new StandardWebhook(secret).verify(later.body, later.headers as Record<string, string>))
  await sender.end()
})

// Contract: User-level envelopes
t.test('gateway webhooks: the log of a retried delivery has each attempt and the time of the next', async (t) => {
  await using certificate = await makeCertificate(hookNames)
  await using receiver = await startReceiver(certificate, () => 500)
  await using filter = await startReceiverFilter(receiver)
  const environment = { database, egressPort: filter.port, certificate }
  const sender = await startSender(t, environment, {
    openingKey: gateway.webhookOpeningKey,
    retryDelaysMs: [20, 3_600_000],
  })
  const { call, listed } = await newCaller()
  const created = await call('POST', '/webhooks', { url: hookUrl('again', '/in') })
  const path = `/webhooks/${String(created.body.data['id'])}`
  await call('POST', `${path}/test`)
  const log = async () => (await listed(`${path}/deliveries`)).data[0] as Fields & { attempts: Fields[] }
  await eventually(async () => (await log()).attempts.length === 2, { withinMs: 60_000 })
  const { status, next_attempt_at: next, attempts } = await log()
  const failed = { at: /Z$/, status: 500, ms: Number, error: 'status' }
  t.match(
    [status, attempts],
    [
      'pending',
      [
        { number: 1, ...failed },
        { number: 2, ...failed },
      ],
    ],
  )
  t.ok(Date.parse(String(next)) > Date.parse(String(attempts[1]?.['at'])) + 3_599_000, String(next))
  await sender.end()
})

// Contract: Deliveries of one capture
// Contract: User-level webhooks
t.test('gateway webhooks: both kinds of deliveries of a capture are listed in pages and redelivered', async (t) => {
  const { tenant, call, listed } = await newTenantCaller()
  await database.query(`update plan set features = array['webhooks'] where slug like 'plan-%'`)
  const created = await call('POST', '/webhooks', { url })
  const id = await captureFor(database, tenant, 'https://own.example/?secret=1')
  const path = `/screenshots/${id}/deliveries`
  const all = await listed(path)
  t.strictSame(all.data.map((each) => String(each['url'])).toSorted(), [
    'https://hooks.example/in?***',
    'https://own.example/?***',
  ])
  const [first, second] = all.data
  t.strictSame(Object.keys(first ?? {}), Object.keys(second ?? {}), 'with the same fields')
  t.strictSame(
    all.data.map((each) => each['webhook_id']).filter((each) => each !== null),
    [created.body.data['id']],
  )
  t.match(all, {
    data: [{ status: 'pending', attempts: [], sent_at: null, screenshot_id: id }],
    meta: { next_cursor: null },
  })
  const one = await listed(`${path}?per_page=1`)
  const two = await listed(`${path}?per_page=1&cursor=${one.meta.next_cursor}`)
  t.strictSame([...one.data, ...two.data], all.data)
  t.equal(two.meta.next_cursor, null)
  for (const query of ['per_page=0', 'per_page=101', 'cursor=x', 'page=2']) {
    t.equal((await call('GET', `${path}?${query}`)).status, 422, query)
  }
  await database.query(`update webhook_delivery set state = 'failed', next_attempt_at = null where capture_id = $1`, [
    id,
  ])
  for (const each of all.data) {
    const again = await call('POST', `${path}/${String(each['id'])}/redeliver`)
    t.match(again, { status: 202, body: { data: { id: each['id'] } } })
  }
  t.ok((await listed(path)).data.every((each) => each['status'] === 'pending' && each['next_attempt_at'] !== null))

  const hook = `/webhooks/${String(created.body.data['id'])}`
  await call('PATCH', hook, { url: 'https://moved.example/' })
  t.match((await listed(`${hook}/deliveries`)).data, [{ url: 'https://moved.example/', status: 'pending' }])
  await call('PATCH', hook, { active: false })
  t.match(
    (await listed(`${hook}/deliveries`)).data,
    [{ status: 'failed', next_attempt_at: null }],
    'the delivery is abandoned',
  )
  await call('DELETE', hook)
  t.equal((await listed(path)).data.length, 1, 'only the delivery to the webhook of the request is left')
})

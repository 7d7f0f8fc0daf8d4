import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import t from 'tap'
import { eraseAccounts } from '#ledger/erase-accounts.ts'
import { readPlans } from '#shared/db/read-plans.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { commandLine } from '#test/helpers/command-line.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { nodeEnv } from '#test/helpers/node-env.ts'
import { validateResponses } from '#test/helpers/validate-responses.ts'
import { adminDocument } from '#gateway/admin/admin-document.ts'

const token = 'a token of the administration'.replaceAll(' ', '-')
const aliceToken = 'a-token-of-alice-alone'
const gateway = await startGateway(t, {
  ADMIN_TOKEN: token,
  ADMIN_TOKENS: `alice:${aliceToken},bob:a-token-of-bob-alone`,
  ADMIN_PORT: '0',
})
const { database, baseUrl, adminUrl } = gateway
validateResponses(t, adminUrl ?? '', adminDocument())
await replacePlans(database, defaultPlans)

type Fields = Readonly<Record<string, unknown>>
/** The fields of response bodies that the tests read; a list is read by index. */
type Body = {
  readonly data: Fields & Iterable<Fields> & Record<'id' | 'key', string> & readonly Fields[]
  readonly error: { readonly code: string; readonly details: Fields }
}
type Answer = { readonly status: number; readonly body: Body; readonly headers: Headers }

const send = async (url: string, method: string, bearer: string | undefined, body?: unknown): Promise<Answer> => {
  const response = await fetch(url, {
    method,
    headers: {
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await response.text()
  return {
    status: response.status,
    body: (text === '' ? undefined : JSON.parse(text)) as Body,
    headers: response.headers,
  }
}
const admin = (method: string, path: string, body?: unknown) => send(`${adminUrl}/admin/v1${path}`, method, token, body)
const client = (key: string, method: string, path: string, body?: unknown) =>
  send(`${baseUrl}/v1${path}`, method, key, body)

const newAccount = async (plan = 'unlimited') => {
  const created = await admin('POST', '/accounts', { name: 'A', email: 'a@example.com', plan })
  const { id } = created.body.data
  const key = await admin('POST', `/accounts/${id}/keys`, { name: 'k' })
  return { id, keyId: key.body.data.id, key: key.body.data.key }
}
const create = (key: string) => client(key, 'POST', '/screenshots', { url: 'https://example.com/' })

// Contract: Off without a token
t.test('admin: every path requires the token, and none is served on the public port', async (t) => {
  for (const bearer of [undefined, '', 'wrong', `${token}x`, token.slice(0, -1)]) {
    const { status, body, headers } = await send(`${adminUrl}/admin/v1/accounts`, 'GET', bearer)
    t.match([status, body], [401, { error: { code: 'INVALID_API_KEY', status: 401, request_id: String } }])
    t.equal(headers.get('access-control-allow-origin'), null)
  }
  const failed = (await admin('GET', '/audit?action=session.fail')).body.data
  t.match(failed[0], { actor: 'unknown', detail: { how: 'token', reason: 'INVALID_API_KEY', from: '127.0.0.1' } })
  t.ok(failed.length <= 5, 'a client fills no audit log')
  t.notMatch(JSON.stringify(failed), token.slice(0, -1))
  t.equal((await send(`${adminUrl}/admin/v1/nothing`, 'GET', undefined)).status, 401, 'unknown paths too')
  t.match(await admin('GET', '/nothing'), { status: 404, body: { error: { code: 'NOT_FOUND' } } })
  t.equal((await send(`${baseUrl}/admin/v1/accounts`, 'GET', token)).status, 404)
})

// Contract: Administered accounts
t.test('admin: accounts are created, listed, read, moved to another plan, disabled and enabled', async (t) => {
  const created = await admin('POST', '/accounts', { name: 'A', email: 'a@example.com', plan: 'free' })
  t.match(created, { status: 200, body: { data: { name: 'A', plan: 'free', created_at: /Z$/, disabled_at: null } } })
  const { id } = created.body.data
  t.match((await admin('GET', '/accounts?limit=1000')).body.data.at(-1), { id })
  t.same((await admin('GET', `/accounts?after=${id}`)).body.data, [])
  t.match(await admin('PATCH', `/accounts/${id}`, { plan: 'pro', disabled: true }), {
    status: 200,
    body: { data: { plan: 'pro', disabled_at: /Z$/ } },
  })
  t.match((await admin('PATCH', `/accounts/${id}`, { disabled: false })).body.data, { disabled_at: null })
  t.match((await admin('GET', `/accounts/${id}`)).body.data, { id, plan: 'pro' })
  const { key } = (await admin('POST', `/accounts/${id}/keys`, {})).body.data
  t.equal((await create(key)).headers.get('x-usage-limit'), '15000')
  await admin('PATCH', `/accounts/${id}`, { plan: 'starter' })
  t.equal((await create(key)).headers.get('x-usage-limit'), '3000', 'the new plan applies at once')
  t.equal((await admin('GET', `/accounts/${randomUUID()}`)).status, 404)
  t.equal((await admin('GET', '/accounts/nobody')).status, 404)
})

t.test('admin: all invalid fields are reported together', async (t) => {
  const { status, body } = await admin('POST', '/accounts', { name: '', plan: 5, rank: 1 })
  t.match([status, body.error.code], [422, 'VALIDATION_ERROR'])
  t.same(Object.keys(body.error.details).toSorted(), ['email', 'name', 'plan', 'rank'])
  t.match((await admin('POST', '/accounts', { name: 'A', email: 'a@example.com', plan: 'gold' })).body.error, {
    code: 'VALIDATION_ERROR',
    details: { plan: [/free, starter/] },
  })
  t.equal((await admin('POST', '/accounts', [])).status, 422)
  t.equal((await send(`${adminUrl}/admin/v1/accounts`, 'POST', token)).status, 400, 'no JSON body')
  t.equal((await admin('GET', '/accounts?limit=0')).status, 422)
  t.match((await admin('GET', '/accounts?page=1')).body.error.details, { page: [String] })
})

// Contract: Expired keys
// Contract: Keys at rest
// Contract: Administered keys
t.test('admin: keys are created, listed, restricted, expired and revoked, each with effect at once', async (t) => {
  const { id, keyId, key } = await newAccount()
  t.match(key, /^sk_live_/)
  t.equal((await create(key)).status, 202)
  t.equal((await admin('PATCH', `/keys/${keyId}`, { domains: ['Shop.example'] })).status, 204)
  t.match(await create(key), { status: 403, body: { error: { code: 'DOMAIN_NOT_ALLOWED' } } })
  t.equal((await admin('PATCH', `/keys/${keyId}`, { domains: [], expires_at: '2020-01-01T00:00:00Z' })).status, 204)
  t.equal((await create(key)).status, 401)
  for (const change of [{ expires_at: null }, { expires_at: '2999-01-01T00:00:00Z' }, { domains: ['shop.example'] }])
    t.match(await admin('PATCH', `/keys/${keyId}`, change), {
      status: 422,
      body: { error: { details: { expires_at: [/has passed/] } } },
    })
  t.equal((await create(key)).status, 401, 'a key that has expired stays so')
  const listed = (await admin('GET', `/accounts/${id}/keys`)).body.data
  t.match(listed, [{ id: keyId, prefix: key.slice(0, 12), domains: [], expires_at: /^2020/, revoked_at: null }])
  t.notMatch(JSON.stringify(listed), key)
  t.equal((await admin('DELETE', `/keys/${keyId}`)).status, 204)
  t.match(await create(key), { status: 401, body: { error: { code: 'INVALID_API_KEY' } } })
  t.equal((await admin('DELETE', `/keys/${randomUUID()}`)).status, 404)
  t.match((await admin('PATCH', `/keys/${keyId}`, { expires_at: '2020-13-41T00:00:00Z' })).status, 422)
  const soon = await admin('PATCH', `/keys/${keyId}`, { expires_at: 'soon' })
  t.same(soon.body.error.details, { expires_at: ['must be a moment such as 2030-01-31T00:00:00Z, or null'] })
})

// Contract: Scopes of keys
// Contract: Administered keys
t.test('admin: a key is created with scopes and a future expiry, by default with all scopes', async (t) => {
  const { id, keyId } = await newAccount()
  const make = (body: object) => admin('POST', `/accounts/${id}/keys`, body)
  const { data } = (await make({ scopes: ['read', 'manage'], expires_at: '2999-01-31T00:00:00Z' })).body
  t.match((await admin('GET', `/accounts/${id}/keys`)).body.data, [
    { id: keyId, scopes: ['capture', 'read', 'manage'], expires_at: null, last_used_at: null },
    { id: data.id, scopes: ['read', 'manage'], expires_at: '2999-01-31T00:00:00.000Z' },
  ])
  t.match(await create(data.key), { status: 403, body: { error: { code: 'FORBIDDEN', message: /`capture`/ } } })
  const past = await make({ expires_at: '2020-01-31T00:00:00Z' })
  t.same(past.body.error.details, { expires_at: ['must be a future moment such as 2030-01-31T00:00:00Z, or null'] })
  const none = await make({ scopes: [] })
  t.same(none.body.error.details, { scopes: ['must be one or more of capture, read, manage'] })
})

// Contract: Administered accounts
t.test('admin: the keys of a disabled account are refused at once, until it is enabled', async (t) => {
  const { id, key } = await newAccount()
  await admin('PATCH', `/accounts/${id}`, { disabled: true })
  t.match(await create(key), { status: 401, body: { error: { code: 'INVALID_API_KEY' } } })
  await admin('PATCH', `/accounts/${id}`, { disabled: false })
  t.equal((await create(key)).status, 202)
})

// Contract: Plans in force
t.test('admin: GET /plans lists the plans in force', async (t) => {
  const { data } = (await admin('GET', '/plans')).body
  t.same(
    readPlans(JSON.stringify(data)),
    defaultPlans.map((plan) => ({ max_pending: 10_000, weight: 1, ...plan })),
  )
  t.match(data[0], { slug: 'free', screenshots_per_month: 200, features: [], max_pending: 10_000 })
})

// Contract: Overload
// Contract: Maintenance mode
t.test('admin: under maintenance every replica refuses new captures, and stored ones stay readable', async (t) => {
  const { key } = await newAccount()
  const { id } = (await create(key)).body.data
  const replica = await gateway.startReplica()
  const createThere = () =>
    send(`${replica.baseUrl}/v1/screenshots`, 'POST', key, { url: 'https://example.com/' }).then(({ status }) => status)
  t.match((await admin('PUT', '/maintenance', { on: true })).body.data, { on: true, since: /Z$/ })
  await eventually(async () => (await create(key)).status === 503)
  await eventually(async () => (await createThere()) === 503)
  const refused = await create(key)
  t.match(refused.body.error, { code: 'SERVICE_UNAVAILABLE', retry_after: 60 })
  t.equal(refused.headers.get('retry-after'), '60')
  for (const method of ['GET', 'POST']) {
    const path = '/screenshots/capture'
    t.equal(
      (await client(key, method, path, method === 'POST' ? { url: 'https://a.example/' } : undefined)).status,
      503,
    )
  }
  t.equal((await client(key, 'GET', `/screenshots/${id}`)).status, 200)
  await admin('PUT', '/maintenance', { on: false })
  t.match((await admin('GET', '/maintenance')).body.data, { on: false, since: null })
  await eventually(async () => (await create(key)).status === 202)
  await eventually(async () => (await createThere()) === 202)
  replica.stop()
})

// Contract: Queue by account
t.test('admin: the queue is listed by account, and pending captures can be canceled at no charge', async (t) => {
  const { id, key } = await newAccount()
  const { id: begun } = (await create(key)).body.data
  await database.query(`update capture set status = 'processing' where id = $1`, [begun])
  await database.query('update lane_meter set processing = 1 where account_id = $1', [id])
  for (let created = 0; created < 20; created += 1) await create(key)
  const entry = async () => (await admin('GET', '/queue')).body.data.find((each) => each.account_id === id)
  t.match(await entry(), { name: 'A', pending: 20, processing: 1 })
  t.same((await admin('POST', `/accounts/${id}/queue/cancel`)).body.data, { canceled: 20 })
  t.match(await entry(), { pending: 0, processing: 1 })
  t.same(
    await database.query(
      `select status, error_code, charge, count(*)::integer as n from capture where account_id = $1
        group by 1, 2, 3 order by 1`,
      [id],
    ),
    [
      { status: 'failed', error_code: 'JOB_FAILED', charge: 'released', n: 20 },
      { status: 'processing', error_code: null, charge: 'reserved', n: 1 },
    ],
  )
  t.same(await database.query('select reserved::integer from usage where account_id = $1', [id]), [{ reserved: 1 }])
  t.equal((await admin('POST', `/accounts/${randomUUID()}/queue/cancel`)).status, 404)
})

// Contract: Administered accounts
t.test('admin: erasing an account removes all of its rows; other accounts are unaffected', async (t) => {
  const [gone, stays] = [await newAccount(), await newAccount()]
  for (const { key } of [gone, stays]) await create(key)
  const marker = `marker-${randomUUID()}`
  const { id: captureId } = (await client(gone.key, 'POST', '/screenshots', { url: `https://example.com/${marker}` }))
    .body.data
  await database.query(`update capture set object_key = 'captures/x/' || id where id = $1`, [captureId])
  await database.query(
    `insert into stored_object (key, capture_id, bytes, sha256, created_at, expires_at)
     select object_key, id, 1, '', now(), now() + interval '1 day' from capture where id = $1`,
    [captureId],
  )
  await admin('POST', `/accounts/${gone.id}/keys`, { name: marker, domains: [] })
  await database.query('insert into batch (id, account_id, total, created_at) values ($1, $2, 1, now())', [
    randomUUID(),
    gone.id,
  ])
  const ordered = await admin('DELETE', `/accounts/${gone.id}`)
  t.match(ordered, { status: 200, body: { data: { id: gone.id, disabled_at: /Z$/, erasing_at: /Z$/ } } })
  t.equal((await create(gone.key)).status, 401)
  t.strictSame((await admin('DELETE', `/accounts/${gone.id}`)).body, ordered.body)
  t.match(await admin('PATCH', `/accounts/${gone.id}`, { disabled: false }), {
    status: 422,
    body: { error: { details: { disabled: ['cannot be changed: the account is being erased'] } } },
  })
  while (await eraseAccounts({ database, events: { accountErased() {} } }));
  t.equal((await admin('GET', `/accounts/${gone.id}`)).status, 404)
  t.equal((await admin('DELETE', `/accounts/${gone.id}`)).status, 404)
  const tables = await database.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = current_schema()`,
  )
  for (const { name } of tables) {
    const held = await database.query(`select 1 from ${name} as r where r::text like $1`, [`%${marker}%`])
    t.equal(held.length, 0, name)
    const own = await database.query(`select 1 from ${name} as r where r::text like $1`, [`%${gone.id}%`])
    // Rows for work that the ledger still has to do name the account.
    if (!['audit_entry', 'deletion'].includes(name)) t.equal(own.length, 0, name)
  }
  t.not((await database.query('select 1 from deletion where capture_id = $1', [captureId])).length, 0)
  t.equal((await database.query('select 1 from object_removal where key = $1', [`captures/x/${captureId}`])).length, 1)
  t.equal((await create(stays.key)).status, 202)
})

// Contract: Audit log
t.test('admin: every change is in the audit log', async (t) => {
  const { id } = await newAccount()
  await admin('PUT', '/maintenance', { on: true })
  await admin('PUT', '/maintenance', { on: true })
  await admin('PUT', '/maintenance', { on: false })
  const { data } = (await admin('GET', '/audit?limit=4')).body
  t.same(
    data.map(({ actor, action }) => `${String(actor)} ${String(action)}`),
    ['admin maintenance.off', 'admin maintenance.on', 'admin key.create', 'admin account.create'],
  )
  t.match(data[3], { target: id, detail: { plan: 'unlimited' }, at: /Z$/ })
  t.match((await admin('GET', `/audit?limit=1&after=${data[0]?.['id'] as string}`)).body.data, [data[1]])
})

// Contract: Audit log
t.test('admin: each change adds one audit entry with its name; refused changes and reads add none', async (t) => {
  const { id, keyId, key } = await newAccount()
  await admin('PATCH', `/accounts/${id}`, { plan: 'pro', disabled: true })
  await admin('PATCH', `/accounts/${id}`, { disabled: false })
  await admin('PATCH', `/keys/${keyId}`, { domains: ['a.example'], expires_at: null })
  await admin('PATCH', `/accounts/${id}`, { plan: 'gold' })
  await admin('PATCH', `/keys/${keyId}`, { domains: ['*'] })
  await admin('GET', '/queue')
  await admin('POST', `/accounts/${id}/queue/cancel`)
  t.same((await admin('POST', `/accounts/${id}/meters/recount`)).body.data, { corrected: [] })
  await admin('DELETE', `/keys/${keyId}`)
  await admin('DELETE', `/accounts/${id}`)
  const { data } = (await admin('GET', '/audit?limit=12')).body
  const own = data.filter(({ target }) => [id, keyId].includes(String(target)))
  t.strictSame(own.map(({ action }) => String(action)).toSorted(), [
    ...['account.create', 'account.disable', 'account.enable', 'account.erase', 'account.set_plan'],
    ...['key.create', 'key.revoke', 'key.set_domains', 'key.set_expiry', 'meters.recount', 'queue.cancel'],
  ])
  t.ok(own.every(({ actor, at }) => actor === 'admin' && String(at).endsWith('Z')))
  t.notMatch(JSON.stringify(data), key.slice(12))
})

// Contract: Command line
// Contract: Audit log
t.test("admin: the command line and the administration API show each other's changes", async (t) => {
  const env = {
    ...nodeEnv,
    SHUTTERFLEET_DATABASE_URL: database.url,
    SHUTTERFLEET_KEY_PEPPER: testPepper,
  }
  const command = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(commandLine, [...args, '--json'], { env })
    return JSON.parse(stdout) as Record<'id' | 'key', string> & Fields[]
  }
  const { id } = await command('account', 'create', '--name', 'C', '--email', 'c@x', '--plan', 'free')
  t.match((await admin('GET', `/accounts/${id}`)).body.data, { id, name: 'C', plan: 'free' })
  const created = await command('key', 'create', '--account', id)
  t.equal((await create(created.key)).status, 202)
  t.match((await admin('POST', `/accounts/${id}/keys`, {})).body.error.details, { account: [/plan allows 1 API key/] })
  await t.rejects(command('key', 'create', '--account', id), /plan allows 1 API key/)
  await command('key', 'revoke', created.id)
  t.equal((await create(created.key)).status, 401)
  const other = (await admin('POST', `/accounts/${id}/keys`, { name: 'of admin' })).body.data
  t.match(await command('key', 'list', '--account', id), [{ id: created.id }, { id: other.id, name: 'of admin' }])
  const { data } = (await admin('GET', '/audit?limit=4')).body
  t.same(
    data.map(({ actor, action, target }) => [actor, action, target]),
    [
      ['admin', 'key.create', other.id],
      ['command line', 'key.revoke', created.id],
      ['command line', 'key.create', created.id],
      ['command line', 'account.create', id],
    ],
  )
})

// Contract: Audit log
t.test('admin: changes made with a named token are in the audit log under that name', async (t) => {
  const asAlice = (method: string, path: string, body?: unknown) =>
    send(`${adminUrl}/admin/v1${path}`, method, aliceToken, body)
  const { id } = (await asAlice('POST', '/accounts', { name: 'A', email: 'a@example.com', plan: 'free' })).body.data
  const { id: keyId } = (await asAlice('POST', `/accounts/${id}/keys`, {})).body.data
  await asAlice('PATCH', `/keys/${keyId}`, { expires_at: null, domains: [] })
  await asAlice('DELETE', `/keys/${keyId}`)
  await asAlice('PATCH', `/accounts/${id}`, { plan: 'pro', disabled: true })
  await asAlice('PATCH', `/accounts/${id}`, { disabled: false })
  await asAlice('POST', `/accounts/${id}/queue/cancel`)
  await asAlice('POST', `/accounts/${id}/queue/requeue`, {})
  await asAlice('PUT', '/maintenance', { on: true })
  await asAlice('PUT', '/maintenance', { on: false })
  await asAlice('DELETE', `/accounts/${id}`)
  const { data } = (await admin('GET', '/audit?limit=13')).body
  // Entries with equal times have no order.
  t.same([...data].map(({ action, actor }) => `${String(actor)} ${String(action)}`).toSorted(), [
    'admin:alice account.create',
    'admin:alice account.disable',
    'admin:alice account.enable',
    'admin:alice account.erase',
    'admin:alice account.set_plan',
    'admin:alice key.create',
    'admin:alice key.revoke',
    'admin:alice key.set_domains',
    'admin:alice key.set_expiry',
    'admin:alice maintenance.off',
    'admin:alice maintenance.on',
    'admin:alice queue.cancel',
    'admin:alice queue.requeue',
  ])
})

t.test('admin: concurrent requests with wrong tokens are rate limited', async (t) => {
  const guesses = Array.from({ length: 40 }, (_, n) => send(`${adminUrl}/admin/v1/plans`, 'GET', `guess-${n}`))
  const answers = await Promise.all(guesses)
  const judged = answers.filter(({ status }) => status === 401).length
  t.ok(judged >= 1 && judged <= 11, `${judged} of 40 were checked`)
  const limited = answers.find(({ status }) => status !== 401)
  t.match(limited, { status: 429, body: { error: { code: 'RATE_LIMIT_EXCEEDED', retry_after: Number } } })
  t.equal((await admin('GET', '/plans')).status, 200, 'a valid token is accepted meanwhile')
})

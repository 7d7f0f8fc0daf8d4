import t from 'tap'
import { createAccount, setDisabled } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { createOperatorLink } from '#shared/db/sign-in-links.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { adminRoutes } from '#gateway/admin/admin-routes.ts'
import { codeOf, postToken, sendJson, signIn, signInOperator } from '#test/helpers/console-client.ts'
import { decisionCodec, heartbeatCodec, type HeartbeatMessage } from '#shared/queue/messages.ts'
import { backlogSubject, decisionSubject, heartbeatSubject } from '#shared/queue/subjects.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const adminToken = 'a-token-of-the-operator'
const gateway = await startGateway(t, { ADMIN_PORT: '0', ADMIN_TOKEN: adminToken })
const { database, baseUrl, adminUrl } = gateway
await replacePlans(database, defaultPlans)

const operatorPath = '/console/api/operator'
const missing = '99999999-9999-4999-8999-999999999999'
const url = 'https://example.com/'

const newAccount = async (name = 'Acme') => {
  const { id } = await createAccount(database, { name, email: 'a@example.com', plan: 'unlimited' })
  const { key } = await createKey(database, { accountId: id, name: 'k', domains: [], pepper: testPepper })
  return { id, key, authorization: { authorization: `Bearer ${key}` } }
}
type Data = Readonly<Record<string, unknown>>
const dataOf = async <Content = Data>(answer: Response): Promise<Content> =>
  ((await answer.json()) as { data: Content }).data

/** Every operation for operators, with its path filled in. */
const operations = [
  { method: 'POST', path: `/accounts/${missing}/view` },
  { method: 'DELETE', path: '/view' },
  ...adminRoutes
    .filter(({ givesCredential }) => !givesCredential)
    .map(({ method, path }) => ({ method, path: path.replace(':id', missing) })),
]

// Contract: Operators
t.test('operators: a link signs one in, who belongs to no account, and the audit log names the session', async (t) => {
  const { session, call } = await signInOperator(gateway)
  t.match(session, { account: null, role: 'operator' })
  t.match(await (await call('GET', '/console/api/session')).json(), { account: null, role: 'operator' })
  const created = await database.query<{ target: string }>(
    `select target from audit_entry where action = 'sign_in_link.create' order by at desc limit 1`,
  )
  t.match(await database.query('select role from console_session where id = $1', [created[0]?.target]), [
    { role: 'operator' },
  ])
  for (const path of ['/v1/account', '/v1/screenshots', '/v1/keys', '/v1/webhooks', `/v1/screenshots/${missing}/image`])
    t.same(await codeOf(await call('GET', path)), [403, 'FORBIDDEN'], path)
  t.same(await codeOf(await call('POST', '/v1/screenshots', { body: { url } })), [403, 'FORBIDDEN'])
  t.equal((await call('DELETE', '/console/api/session')).status, 204)
  t.equal((await call('GET', '/console/api/session')).status, 401)
})

// Contract: Operators
t.test('operators: nobody else may request what is theirs', async (t) => {
  const { id, authorization } = await newAccount()
  const [owner, viewer, ended] = [
    await signIn(gateway, id, 'owner'),
    await signIn(gateway, id, 'viewer'),
    await signInOperator(gateway),
  ]
  await ended.call('DELETE', '/console/api/session')
  for (const { method, path } of operations) {
    const what = `${method} ${path}`
    const send = (headers: Readonly<Record<string, string>>) =>
      sendJson(`${baseUrl}${operatorPath}${path}`, method, { headers })
    t.same(await codeOf(await owner.call(method, operatorPath + path)), [403, 'FORBIDDEN'], `${what} by an owner`)
    t.same(await codeOf(await viewer.call(method, operatorPath + path)), [403, 'FORBIDDEN'], `${what} by a viewer`)
    t.same(await codeOf(await ended.call(method, operatorPath + path)), [401, 'UNAUTHORIZED'], `${what} after the end`)
    t.same(await codeOf(await send({})), [401, 'UNAUTHORIZED'], `${what} without a session`)
    t.same(await codeOf(await send(authorization)), [401, 'UNAUTHORIZED'], `${what} with a key`)
    const token = { authorization: `Bearer ${adminToken}` }
    t.same(await codeOf(await send(token)), [401, 'UNAUTHORIZED'], `${what} with the token of the admin API`)
  }
  t.same(await database.query('select from maintenance'), [])
})

// Contract: Operators
t.test('operators: what changes something needs the CSRF token and the own origin, and a role that may', async (t) => {
  const operator = await signInOperator(gateway)
  const reader = await signInOperator(gateway, 'operator_read_only')
  const forReaders = [`POST /accounts/${missing}/view`, 'DELETE /view']
  for (const { method, path } of operations) {
    const what = `${method} ${path}`
    if (method === 'GET') {
      t.not((await reader.call(method, operatorPath + path)).status, 403, what)
      continue
    }
    for (const headers of [{ 'x-csrf-token': '' }, { origin: 'https://evil.example' }])
      t.same(await codeOf(await operator.call(method, operatorPath + path, { headers })), [403, 'FORBIDDEN'], what)
    const expected = forReaders.includes(what) ? [404, 'NOT_FOUND'] : [403, 'FORBIDDEN']
    t.same(await codeOf(await reader.call(method, operatorPath + path)), expected, `${what} read-only`)
  }
  const sessions = `/console/api/sessions/${missing}`
  t.same(await codeOf(await reader.call('DELETE', sessions)), [403, 'FORBIDDEN'])
  t.equal((await reader.call('DELETE', '/console/api/session')).status, 204)
})

// Contract: Operators
t.test('operators: credentials are given out on the port of the administration alone', async (t) => {
  const { id } = await newAccount()
  const { call } = await signInOperator(gateway)
  const creating = [`/accounts/${id}/keys`, `/accounts/${id}/sign-in-links`, '/sign-in-links']
  for (const path of creating) {
    const { status } = await call('POST', operatorPath + path, { body: {} })
    t.ok([404, 405].includes(status), `${path} ${status}`)
  }
  const headers = { authorization: `Bearer ${adminToken}` }
  const created = await sendJson(`${adminUrl}/admin/v1/sign-in-links`, 'POST', { body: {}, headers })
  const { url: link } = await dataOf<{ url: string }>(created)
  const answer = await postToken(baseUrl, link.split('#token=')[1] ?? '')
  t.match([answer.status, await answer.json()], [201, { role: 'operator', account: null }])
})

// Contract: Looking into an account
t.test('operators: who looks into an account reads it and changes nothing, and both sides see it', async (t) => {
  const { id, authorization } = await newAccount('Watched')
  const { id: other } = await newAccount('Other')
  const create = sendJson(`${baseUrl}/v1/screenshots`, 'POST', { body: { url }, headers: authorization })
  const { id: capture } = await dataOf<{ id: string }>(await create)
  for (const role of ['operator', 'operator_read_only'] as const) {
    const { call } = await signInOperator(gateway, role)
    const own = await dataOf<readonly { id: string; is_current: boolean }[]>(await call('GET', '/console/api/sessions'))
    const sessionId = own.find(({ is_current: isCurrent }) => isCurrent)?.id
    t.equal((await call('POST', `${operatorPath}/accounts/${id}/view`)).status, 204)
    t.match(await (await call('GET', '/console/api/session')).json(), { role, account: { id, name: 'Watched' } })
    t.match(await dataOf(await call('GET', '/v1/account')), { id })
    t.match(await dataOf(await call('GET', `/v1/screenshots/${capture}`)), { id: capture })
    const changes = [
      ['POST', '/v1/screenshots'],
      ['POST', '/v1/keys'],
      ['POST', '/v1/webhooks'],
      ['DELETE', `/v1/screenshots/${capture}`],
      ['POST', `/v1/screenshots/${capture}/signed-url`],
      ['GET', `/v1/screenshots/capture?url=${url}`],
    ] as const
    for (const [method, path] of changes)
      t.same(
        await codeOf(await call(method, path, { body: method === 'POST' ? { url } : undefined })),
        [403, 'FORBIDDEN'],
        path,
      )
    const [open, pending] = [await call('GET', '/v1/events'), await call('GET', `/v1/screenshots/${capture}/events`)]
    t.equal((await call('DELETE', `${operatorPath}/view`)).status, 204)
    for (const stream of [open, pending])
      t.match(await stream.text(), /event: unauthorized/, 'a stream ends with the look')
    t.same(await codeOf(await call('GET', `/v1/screenshots/${capture}`)), [403, 'FORBIDDEN'])
    t.same(await codeOf(await call('DELETE', `${operatorPath}/view`)), [404, 'NOT_FOUND'])

    const actor = `operator:${sessionId}`
    t.same(await database.query('select action, target from audit_entry where actor = $1 order by at', [actor]), [
      { action: 'session.begin', target: sessionId },
      { action: 'account.view', target: id },
      { action: 'account.leave', target: id },
    ])
    const activity = () => sendJson(`${baseUrl}/v1/account/activity?per_page=100`, 'GET', { headers: authorization })
    await eventually(async () => {
      const entries = await dataOf<readonly { operation: string; session_id: string | null }[]>(await activity())
      const seen = entries.filter((each) => each.session_id === sessionId).map(({ operation }) => operation)
      return ['console_account_view', 'status', 'console_account_leave'].every((each) => seen.includes(each))
    })
  }
  t.same(await database.query('select from activity where account_id = $1', [other]), [])
})

// Contract: Looking into an account
t.test('operators: look into no account that is unknown or disabled, or becomes disabled', async (t) => {
  const { id } = await newAccount()
  const { call } = await signInOperator(gateway)
  t.same(await codeOf(await call('POST', `${operatorPath}/accounts/${missing}/view`)), [404, 'NOT_FOUND'])
  await call('POST', `${operatorPath}/accounts/${id}/view`)
  await setDisabled(database, id, true)
  t.same(await codeOf(await call('GET', '/v1/account')), [403, 'FORBIDDEN'])
  t.match(await (await call('GET', '/console/api/session')).json(), { account: null })
  t.same(await codeOf(await call('POST', `${operatorPath}/accounts/${id}/view`)), [404, 'NOT_FOUND'])
})

// Contract: Own sessions
t.test('operators: see and end the sessions of operators, and members never do', async (t) => {
  const { id } = await newAccount()
  const [operator, other, member] = [
    await signInOperator(gateway),
    await signInOperator(gateway),
    await signIn(gateway, id, 'owner'),
  ]
  await operator.call('POST', `${operatorPath}/accounts/${id}/view`)
  type List = readonly { id: string; role: string; is_current: boolean }[]
  const list = async (of: typeof operator) => dataOf<List>(await of.call('GET', '/console/api/sessions'))
  t.match(await list(member), [{ role: 'owner', is_current: true }])
  t.ok((await list(operator)).every(({ role }) => role.startsWith('operator')))
  const own = (await list(other)).find(({ is_current: isCurrent }) => isCurrent)
  t.same(await codeOf(await member.call('DELETE', `/console/api/sessions/${own?.id}`)), [404, 'NOT_FOUND'])
  const [theirs] = await list(member)
  t.same(await codeOf(await operator.call('DELETE', `/console/api/sessions/${theirs?.id}`)), [404, 'NOT_FOUND'])
  t.equal((await operator.call('DELETE', `/console/api/sessions/${own?.id}`)).status, 204)
  t.equal((await other.call('GET', '/console/api/session')).status, 401)
})

// Contract: Operators
t.test('operators: are refused where the console is for members alone, sessions from before included', async (t) => {
  const closed = await startGateway(
    t,
    { CONSOLE_OPERATORS: 'false', ADMIN_PORT: '0', ADMIN_TOKEN: adminToken },
    gateway.postgres,
  )
  await replacePlans(closed.database, defaultPlans)
  const { token } = await createOperatorLink(closed.database, { role: 'operator', pepper: testPepper, actor: 'admin' })
  t.same(await codeOf(await postToken(closed.baseUrl, token)), [401, 'UNAUTHORIZED'])
  const bearer = { authorization: `Bearer ${adminToken}` }
  const asked = await sendJson(`${closed.adminUrl}/admin/v1/sign-in-links`, 'POST', { body: {}, headers: bearer })
  t.same(await codeOf(asked), [403, 'FORBIDDEN'])
  await closed.database.query(
    `insert into console_session (id, token_hash, role, created_at, last_seen_at, expires_at, idle_expires_at, address, user_agent)
     select session_id, token_hash, role, now(), now(), now() + interval '1 hour', now() + interval '1 hour', '', '' from sign_in_link`,
  )
  const headers = { cookie: `shutterfleet_session=${token}` }
  t.same(await codeOf(await sendJson(`${closed.baseUrl}/console/api/session`, 'GET', { headers })), [
    401,
    'UNAUTHORIZED',
  ])
})

// Contract: Operators
t.test('operators: change accounts as the administration does, and the audit log names their session', async (t) => {
  const { id, authorization } = await newAccount('Changed')
  const { call } = await signInOperator(gateway)
  const account = `${operatorPath}/accounts/${id}`
  t.match(await dataOf(await call('PATCH', account, { body: { plan: 'pro', disabled: true } })), { plan: 'pro' })
  t.equal((await sendJson(`${baseUrl}/v1/account`, 'GET', { headers: authorization })).status, 401)
  t.match(await dataOf(await call('GET', `${operatorPath}/audit?target=${id}&limit=2`)), [
    { action: 'account.disable', actor: /^operator:[0-9a-f-]{36}$/ },
    { action: 'account.set_plan', detail: { to: 'pro' } },
  ])
  t.match(await dataOf(await call('GET', `${operatorPath}/accounts?search=chANG`)), [
    { id, usage: { screenshots_used: 0, screenshots_limit: 15_000 }, queue: { pending: 0, processing: 0 } },
  ])
  t.same(await dataOf(await call('GET', `${operatorPath}/accounts?search=%25`)), [], 'a pattern is text')
  t.match(await dataOf(await call('GET', `${operatorPath}/health`)), { version: String, node: String })
})

// Contract: Installation at work
t.test('operators: see pools with lanes, workers and decisions, and which services report', async (t) => {
  const { authorization } = await newAccount()
  await sendJson(`${baseUrl}/v1/screenshots`, 'POST', { body: { url }, headers: authorization })
  const { call } = await signInOperator(gateway)
  type Health = {
    readonly services: readonly object[]
    readonly stores: readonly object[]
    readonly tasks: readonly object[]
  }
  const before = await dataOf<Health>(await call('GET', `${operatorPath}/health`))
  t.match(before.services, [
    { name: 'ledger', state: /^no backlog report/ },
    { name: 'controller', state: /^no decision/ },
  ])
  const { queue } = gateway
  const decision = { desired: 2, min: 1, max: 4, ready: 1, decision: 'scale-up', reason: 'load' }
  const pool = 'standard'
  const objectivesMs = { interactive: 2000, normal: 10_000, bulk: 120_000 }
  for (const decided of [
    { ...decision, browserpool: 'big', objectivesMs },
    { ...decision, browserpool: 'slow', objectivesMs: { ...objectivesMs, interactive: 5000, normal: 5000 } },
  ])
    queue.publish(decisionSubject(pool), decisionCodec.encode({ pool, ...decided }))
  queue.publish(backlogSubject('standard'), Buffer.from('{}'))
  type Pool = { readonly pool: string; readonly workers: readonly object[]; readonly browser_pools: readonly object[] }
  const reading = async () => dataOf<readonly Pool[]>(await call('GET', `${operatorPath}/pools`))
  const worker: HeartbeatMessage = {
    pod: 'a',
    pool: 'standard',
    pid: 1,
    slots: 2,
    busy: 1,
    state: 'ready',
    captures: [missing],
    browsers: [{ browser: 'shell', version: '156.0.1.2', builtAtMs: Date.UTC(2026, 0, 1) }],
  }
  const beat = setInterval(() => queue.publish(heartbeatSubject(worker), heartbeatCodec.encode(worker)), 100)
  await eventually(async () => (await reading()).some(({ workers }) => workers.length > 0))
  clearInterval(beat)
  const [standard] = await reading()
  t.match(standard, {
    pool: 'standard',
    lanes: [
      { lane: 'interactive', oldest_seconds: Number, objective_seconds: 2 },
      { lane: 'normal', processing: 0, objective_seconds: 5 },
      { lane: 'bulk', objective_seconds: 120 },
    ],
    workers: [{ pod: 'a', state: 'ready', busy: 1, captures: [missing] }],
    browser_pools: [{ name: 'big', state: 'ok', changes: [decision] }, { name: 'slow' }],
  })
  const { services, stores, tasks } = await dataOf<Health>(await call('GET', `${operatorPath}/health`))
  t.match(services, [
    { name: 'ledger', state: 'ok' },
    { name: 'controller', state: 'ok' },
  ])
  t.match(stores, [
    { name: 'postgresql', state: 'ok', version: /^\d+/, kind: null },
    { name: 'nats', version: /^\d+\.\d+/, kind: null },
    { name: 'object_store', version: null, kind: 'files' },
  ])
  t.match(await dataOf(await call('GET', `${operatorPath}/browsers`)), [
    { browser: 'shell', version: '156.0.1.2', built_at: '2026-01-01T00:00:00.000Z', age_days: Number, workers: 1 },
  ])
  t.ok(tasks.length >= 6)
})

// Contract: Installation at work
t.test('operators: see what the gateway finds wrong with its installation, and what to do about it', async (t) => {
  const { call } = await signInOperator(gateway)
  type Finding = { readonly name: string; readonly state: string; readonly detail: string; readonly advice: string }
  const read = async (): Promise<ReadonlyMap<string, Finding>> =>
    new Map(
      (await dataOf<readonly Finding[]>(await call('GET', `${operatorPath}/findings`))).map((each) => [
        each.name,
        each,
      ]),
    )
  const before = await read()
  for (const name of [
    'postgresql',
    'nats',
    'object_store',
    'postgresql_version',
    'nats_version',
    'clock',
    'clients',
    'public_url',
  ])
    t.match(before.get(name), { state: 'ok', advice: null }, name)
  t.match(before.get('unused_keys'), { state: 'ok', detail: /^0 valid API keys/ })
  const { id } = await newAccount('Idle')
  await database.query(`update api_key set created_at = now() - interval '181 days' where account_id = $1`, [id])
  t.match((await read()).get('unused_keys'), { state: 'warning', detail: /^1 valid API keys/, advice: /^revoke/ })
  await database.query(`update api_key set expires_at = now() where account_id = $1`, [id])
  t.match((await read()).get('unused_keys'), { state: 'ok' }, 'an expired key does not count')
})

// Contract: Installation at work
t.test('operators: see what happened to a capture of any account, and not what it shows', async (t) => {
  const { id, authorization } = await newAccount('Traced')
  const secret = 'https://example.com/a-secret-path'
  const created = sendJson(`${baseUrl}/v1/screenshots`, 'POST', { body: { url: secret }, headers: authorization })
  const { id: capture } = await dataOf<{ id: string }>(await created)
  const { call } = await signInOperator(gateway)
  const traced = await dataOf(await call('GET', `${operatorPath}/captures/${capture}`))
  t.match(traced, {
    id: capture,
    account_id: id,
    account_name: 'Traced',
    status: 'pending',
    pool: 'standard',
    lane: 'normal',
  })
  t.notMatch(JSON.stringify(traced), /secret|options|url/)
  for (const unknown of [missing, 'x'])
    t.same(await codeOf(await call('GET', `${operatorPath}/captures/${unknown}`)), [404, 'NOT_FOUND'])
})

// Contract: Installation at work
t.test('operators: see receivers that do not answer, and settings without secrets', async (t) => {
  const { id } = await newAccount('Silent')
  const { call } = await signInOperator(gateway)
  await database.query(
    `insert into webhook_queue (account_id, host, unanswered, paused_until)
     values ($1, 'down.example', 5, now() + interval '1 hour'), ($1, 'up.example', 0, null)`,
    [id],
  )
  t.match(await dataOf(await call('GET', `${operatorPath}/webhook-hosts`)), [
    { host: 'down.example', account_name: 'Silent', unanswered: 5 },
  ])
  const settings = JSON.stringify(await dataOf(await call('GET', `${operatorPath}/settings`)))
  t.match(settings, '{"name":"SHUTTERFLEET_ADMIN_PORT","value":"0","is_default":false}')
  for (const secret of [adminToken, testPepper, database.url, 'DATABASE_URL', 'KEY_PEPPER', 'NATS_URL'])
    t.notOk(settings.includes(secret), secret)
})

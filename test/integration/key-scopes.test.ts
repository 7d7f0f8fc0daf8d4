import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { type Scope, scopes } from '#shared/policy/scopes.ts'
import { defaultPlans } from '#local/default-plans.ts'
import type { Operation } from '#gateway/operations/operation.ts'
import { routes } from '#gateway/routes.ts'
import { bodyOf } from '#test/helpers/body-of.ts'
import { codeOf, sendJson, signInOperator } from '#test/helpers/console-client.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const adminToken = 'a-token-of-the-operator'
const gateway = await startGateway(t, { ADMIN_PORT: '0', ADMIN_TOKEN: adminToken })
const { database, baseUrl, adminUrl } = gateway
await replacePlans(database, defaultPlans)

const url = 'https://example.com/'
const missing = '99999999-9999-4999-8999-999999999999'
const { id: accountId } = await createAccount(database, { name: 'Acme', email: 'a@example.com', plan: 'unlimited' })

const keyWith = async (...own: Scope[]) =>
  (await createKey(database, { accountId, name: own.join(), domains: [], scopes: own, pepper: testPepper })).key

const withKey =
  (key: string) =>
  (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    sendJson(`${baseUrl}/v1${path}`, method, { body, headers: { authorization: `Bearer ${key}`, ...headers } })

const keys = Object.fromEntries(await Promise.all(scopes.map(async (scope) => [scope, await keyWith(scope)] as const)))
const protectedRoutes = routes.filter(({ access }) => access === 'key' || access === 'link')
const pathOf = ({ path }: Operation) => path.replace(':file', 'text').replaceAll(/:\w+/g, missing)

/** A request of the operation that is refused for nothing but its key, and one that is invalid besides. */
const bodiesOf = ({ method, accepts, path }: Operation): readonly unknown[] => {
  if (method === 'GET' || method === 'HEAD' || method === 'DELETE') return [undefined]
  if (!accepts) return [{}]
  const source = path.endsWith('/batch') ? { urls: [url] } : { url }
  // Small bodies are checked by the accept statement, invalid and large ones before it.
  return [source, { width: 1 }, { ...source, css: 'a'.repeat(20_000) }]
}

// Contract: Scopes of keys
t.test('scopes: each operation that takes a key refuses one that has none of its scopes', async (t) => {
  for (const operation of protectedRoutes) {
    const { name, method, path, scopes: required } = operation
    t.ok(required.length > 0, `${name} names its scopes`)
    const key = await keyWith(...scopes.filter((scope) => !required.includes(scope)))
    const query = method === 'GET' && path.endsWith('/capture') ? [`?url=${encodeURIComponent(url)}`, ''] : ['']
    for (const body of bodiesOf(operation))
      for (const each of query) {
        const answer = await withKey(key)(method, pathOf(operation) + each, body)
        t.equal(answer.status, 403, name)
        if (method === 'HEAD') continue
        const { error } = (await answer.json()) as { error: { code: string; message: string } }
        const named = required.map((scope) => `\`${scope}\``).join(' or ')
        t.match(error, { code: 'FORBIDDEN', message: `lacks the scope ${named}` }, name)
      }
  }
  t.same(await database.query('select id from capture'), [], 'nothing is accepted')
  t.same(await database.query('select id from webhook'), [], 'nothing is changed')
})

// Contract: Scopes of keys
t.test('scopes: one of an operation’s scopes is enough', async (t) => {
  for (const operation of protectedRoutes) {
    for (const scope of operation.scopes) {
      const body = bodiesOf(operation)[operation.accepts ? 1 : 0]
      const answer = await withKey(keys[scope]!)(operation.method, pathOf(operation), body)
      t.not(answer.status, 401, `${operation.name} with ${scope}`)
      t.notMatch(await bodyOf(answer), /lacks the scope/, `${operation.name} with ${scope}`)
    }
  }
})

// Contract: Scopes of keys
t.test('scopes: what each scope is for', async (t) => {
  const namesWith = (scope: Scope) =>
    protectedRoutes.flatMap((each) => (each.scopes.includes(scope) ? each.name : [])).toSorted()
  const results = ['batch_events', 'batch_status', 'events', 'file', 'image', 'image_head', 'status']
  t.same(namesWith('capture'), ['batch', 'capture_get', 'capture_post', 'create', 'sign_url', ...results].toSorted())
  t.same(
    namesWith('read'),
    [
      'account',
      'account_events',
      'activity',
      'activity_export',
      'batch_list',
      'capture_deliveries',
      'list',
      'usage',
      'webhook_deliveries',
      ...results,
    ].toSorted(),
  )
  const others = protectedRoutes.filter(({ scopes: some }) => !some.includes('read') && !some.includes('capture'))
  t.ok(others.every(({ scopes: some }) => some.join() === 'manage'))
})

type Made = { data: { id: string; key: string; scopes: Scope[] } }

// Contract: Scopes of keys
t.test('scopes: a key creates keys with its own scopes at most, and by default with those', async (t) => {
  const create = async (key: string, body: object) => {
    const answer = await withKey(key)('POST', '/keys', { name: 'new', ...body })
    return answer.ok ? ((await answer.json()) as Made).data.scopes : codeOf(answer)
  }
  const [all, some] = [await keyWith(...scopes), await keyWith('manage', 'read')]
  t.same(await create(all, {}), scopes)
  t.same(await create(all, { scopes: ['read', 'capture'] }), ['capture', 'read'])
  t.same(await create(some, {}), ['read', 'manage'])
  t.same(await create(some, { scopes: ['manage'] }), ['manage'])
  t.same(await create(some, { scopes: ['capture'] }), [403, 'FORBIDDEN'])
  t.same(await create(some, { scopes: ['read', 'capture'] }), [403, 'FORBIDDEN'])
  for (const invalid of [[], ['root'], 'read', null])
    t.same(await create(all, { scopes: invalid }), [422, 'VALIDATION_ERROR'], JSON.stringify(invalid))
})

// Contract: Scopes of keys
t.test('scopes: the response with a new key is not repeated for another key', async (t) => {
  const [all, some] = [await keyWith(...scopes), await keyWith('manage')]
  const [body, headers] = [{ name: 'once' }, { 'idempotency-key': 'new-key' }]
  const made = (await (await withKey(all)('POST', '/keys', body, headers)).json()) as Made
  t.same(await codeOf(await withKey(some)('POST', '/keys', body, headers)), [422, 'IDEMPOTENCY_MISMATCH'])
  t.same(await (await withKey(all)('POST', '/keys', body, headers)).json(), made)
})

// Contract: Scopes of keys
t.test('scopes: a refused request is neither counted nor the last use of its key', async (t) => {
  const { id } = await createAccount(database, { name: 'Free', email: 'f@example.com', plan: 'free' })
  const { key } = await createKey(database, {
    accountId: id,
    name: 'k',
    domains: [],
    scopes: ['read'],
    pepper: testPepper,
  })
  for (let sent = 0; sent < 8; sent += 1)
    t.same(await codeOf(await withKey(key)('POST', '/screenshots', { url })), [403, 'FORBIDDEN'])
  const used = () => database.query('select last_used_at as at from api_key where account_id = $1', [id])
  t.same(await used(), [{ at: null }])
  t.equal((await withKey(key)('GET', '/account')).status, 200)
  t.not((await used())[0], null)
})

// Contract: Operators
t.test('operators: make a key only narrower, of which the administration extends one', async (t) => {
  const { call } = await signInOperator(gateway)
  const newKey = (domains: readonly string[], expiresAt?: Date) =>
    createKey(database, { accountId, name: 'k', domains, expiresAt, pepper: testPepper })
  const soon = new Date(Date.now() + 3_600_000)
  const { id: keyId } = await newKey(['*.a.example', 'b.example'], soon)
  const change = (body: unknown, of = keyId) => call('PATCH', `/console/api/operator/keys/${of}`, { body })
  const later = new Date(soon.getTime() + 1000).toISOString()
  for (const [field, body] of [
    ['expires_at', { expires_at: null }],
    ['expires_at', { expires_at: later }],
    ['domains', { domains: [] }],
    ['domains', { domains: ['b.example', 'a.example'] }],
    ['domains', { domains: ['*.b.example'] }],
    ['domains', { domains: ['*.example'] }],
  ] as const) {
    const answer = await change(body)
    t.equal(answer.status, 422, JSON.stringify(body))
    t.match(await answer.json(), { error: { details: { [field]: [/cannot/] } } })
  }
  t.equal((await change({ domains: ['shop.a.example', '*.x.a.example'], expires_at: soon.toISOString() })).status, 204)
  const { id: open } = await newKey([])
  t.equal((await change({ domains: ['c.example'], expires_at: '2020-01-01T00:00:00Z' }, open)).status, 204)
  t.equal((await change({ expires_at: null, domains: [] }, open)).status, 422, 'it has expired')
  const headers = { authorization: `Bearer ${adminToken}` }
  const body = { domains: [], expires_at: null }
  t.equal((await sendJson(`${adminUrl}/admin/v1/keys/${keyId}`, 'PATCH', { body, headers })).status, 204)
})

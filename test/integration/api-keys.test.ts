import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey, revokeKey } from '#shared/db/keys.ts'
import { rotateLinkSecret } from '#shared/db/link-secrets.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { codeOf, sendJson, signIn } from '#test/helpers/console-client.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const gateway = await startGateway(t)
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)

type Key = Readonly<Record<'id' | 'name' | 'prefix' | 'key', string>> & {
  readonly domains: readonly string[]
  readonly expires_at: string | null
  readonly created_at: string
  readonly last_used_at: string | null
}
const dataOf = async <T>(answer: Response): Promise<T> => ((await answer.json()) as { data: T }).data

const newAccount = async (plan = 'unlimited') => {
  const { id } = await createAccount(database, { name: 'Acme', email: 'a@example.com', plan })
  const { key } = await createKey(database, { accountId: id, name: 'first', domains: [], pepper: testPepper })
  return { id, key }
}
const withKey =
  (key: string) =>
  (method: string, path: string, body?: unknown): Promise<Response> =>
    sendJson(`${baseUrl}/v1${path}`, method, { body, headers: { authorization: `Bearer ${key}` } })

// Contract: Keys of the account
t.test('keys: a new key is shown once, works at once, and not after it was revoked', async (t) => {
  const { id: accountId, key: first } = await newAccount()
  const send = withKey(first)
  const made = await dataOf<Key>(await send('POST', '/keys', { name: 'Website' }))
  t.match(made, { name: 'Website', prefix: made.key.slice(0, 12), domains: [], expires_at: null, last_used_at: null })
  t.equal((await withKey(made.key)('GET', '/account')).status, 200)
  const listed = await dataOf<Key[]>(await send('GET', '/keys'))
  t.same(
    listed.map(({ name }) => name),
    ['Website', 'first'],
  )
  t.notOk(listed.some((each) => 'key' in each))
  t.ok(Date.now() - Date.parse(listed[0]?.last_used_at ?? '') < 120_000)
  t.equal((await send('DELETE', `/keys/${made.id}`)).status, 204)
  t.same(await codeOf(await withKey(made.key)('GET', '/account')), [401, 'INVALID_API_KEY'])
  t.equal((await dataOf<Key[]>(await send('GET', '/keys'))).length, 1)

  const audited = `select actor, action from audit_entry where target = $1 order by at`
  const [{ id: firstId } = { id: '' }] = await database.query<{ id: string }>(
    `select id from api_key where account_id = $1 and name = 'first'`,
    [accountId],
  )
  t.same(await database.query(audited, [made.id]), [
    { actor: `key:${firstId}`, action: 'key.create' },
    { actor: `key:${firstId}`, action: 'key.revoke' },
  ])
})

// Contract: Keys of the account
t.test(
  'keys: a key that expires or is restricted to domains cannot create one that is not, nor revoke any',
  async (t) => {
    const { id: accountId } = await newAccount()
    const restrictions = [{ domains: ['shop.example'] }, { domains: [], expiresAt: new Date(Date.now() + 60_000) }]
    for (const restriction of restrictions) {
      const { id, key } = await createKey(database, { accountId, name: 'k', pepper: testPepper, ...restriction })
      const headers = { authorization: `Bearer ${key}`, origin: 'https://shop.example' }
      const send = (method: string, path: string, body?: unknown) =>
        sendJson(`${baseUrl}/v1${path}`, method, { body, headers })
      t.equal((await send('GET', '/keys')).status, 200)
      t.same(await codeOf(await send('POST', '/keys', { name: 'free' })), [403, 'FORBIDDEN'])
      t.same(await codeOf(await send('DELETE', `/keys/${id}`)), [403, 'FORBIDDEN'])
    }
  },
)

// Contract: Keys of the account
t.test('keys: the last use of a key is not before its creation', async (t) => {
  const { key } = await newAccount()
  const [used] = await dataOf<Key[]>(await withKey(key)('GET', '/keys'))
  t.ok((used?.last_used_at ?? '') >= (used?.created_at ?? 'a'), JSON.stringify(used))
})

// Contract: Keys of the account
t.test('keys: those of another account are neither listed nor revoked', async (t) => {
  const [one, other] = [await newAccount(), await newAccount()]
  const [key] = await dataOf<Key[]>(await withKey(other.key)('GET', '/keys'))
  t.notOk((await dataOf<Key[]>(await withKey(one.key)('GET', '/keys'))).some(({ id }) => id === key?.id))
  t.same(await codeOf(await withKey(one.key)('DELETE', `/keys/${key?.id}`)), [404, 'NOT_FOUND'])
  t.equal((await withKey(other.key)('GET', '/account')).status, 200)
})

// Contract: Keys of the account
t.test('keys: invalid fields are reported together, and the number of the plan holds', async (t) => {
  const { key } = await newAccount('starter')
  const send = withKey(key)
  const details = async (body: unknown) => {
    const answer = await send('POST', '/keys', body)
    t.equal(answer.status, 422)
    return Object.keys(((await answer.json()) as { error: { details: object } }).error.details)
  }
  t.same(await details({ name: '', domains: 'x', expires_at: 'soon', more: 1 }), [
    'more',
    'name',
    'domains',
    'expires_at',
  ])
  t.same(await details({ name: '\ud800' }), ['name'])
  t.same(await details({ name: 'k', domains: ['not a host'] }), ['domains'])
  t.same(await details({ name: 'k', expires_at: '2020-01-31T00:00:00Z' }), ['expires_at'])
  const made = await dataOf<Key>(
    await send('POST', '/keys', { name: 'k', domains: ['*.Example.com'], expires_at: '2999-01-31T00:00:00Z' }),
  )
  t.match(made, { domains: ['*.example.com'], expires_at: '2999-01-31T00:00:00.000000Z' })
  t.same(await details({ name: 'one too many' }), ['account'])
})

// Contract: Keys of the account
t.test('keys: members create and revoke them in the console, a viewer only lists them', async (t) => {
  const { id } = await newAccount()
  const member = await signIn(gateway, id, 'member')
  const viewer = await signIn(gateway, id, 'viewer')
  const made = await dataOf<Key>(await member.call('POST', '/v1/keys', { body: { name: 'Console' } }))
  t.equal((await withKey(made.key)('GET', '/account')).status, 200)
  t.equal((await dataOf<Key[]>(await viewer.call('GET', '/v1/keys'))).length, 2)
  t.same(await codeOf(await viewer.call('POST', '/v1/keys', { body: { name: 'No' } })), [403, 'FORBIDDEN'])
  t.same(await codeOf(await viewer.call('DELETE', `/v1/keys/${made.id}`)), [403, 'FORBIDDEN'])
  t.equal((await member.call('DELETE', `/v1/keys/${made.id}`)).status, 204)
  const [{ actor } = { actor: '' }] = await database.query<{ actor: string }>(
    `select actor from audit_entry where target = $1 and action = 'key.revoke'`,
    [made.id],
  )
  t.match(actor, /^session:[0-9a-f-]{36}$/)
})

t.test('keys: what locks a key and its account locks the key first, so that nobody waits in a circle', async (t) => {
  const { id: accountId } = await newAccount()
  const { id: keyId } = await createKey(database, { accountId, name: '', domains: [], pepper: testPepper })
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  const changes = {
    'rotate a link secret': () => rotateLinkSecret(database, { keyId, accountId, previousSeconds: 0, actor: 'system' }),
    'revoke a key': () => revokeKey(database, keyId),
  }
  for (const [name, change] of Object.entries(changes)) {
    const started = Promise.withResolvers<{ ended: Promise<unknown> }>()
    // As a request that is the first of its minute and its month, or another of these changes.
    await database.transaction(async (sql) => {
      await sql.query('select from api_key where id = $1 for no key update', [keyId])
      started.resolve({ ended: change() })
      await eventually(async () => (await database.query(waiting)).length === 1, { what: `to ${name} waits` })
      const free = await sql.query('select from account where id = $1 for update skip locked', [accountId])
      t.equal(free.length, 1, `to ${name} has not locked the account`)
    })
    await t.resolves((await started.promise).ended, name)
  }
})

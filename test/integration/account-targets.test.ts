import t from 'tap'
import { targetStoreIn } from '#shared/db/account-targets.ts'
import { createAccount, findAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import type { TargetTexts } from '#shared/policy/target-lists.ts'
import { signRenderLink } from '#gateway/links/render-link.ts'
import { sealedCodec } from '#shared/queue/messages.ts'
import { open } from '#shared/queue/seal.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { signIn } from '#test/helpers/console-client.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const adminToken = 'an-admin-token-of-tests-0123456789'
const gateway = await startGateway(t, {
  DENY_TARGETS: '*.forbidden.example 203.0.113.9',
  ADMIN_TOKENS: `test:${adminToken}`,
  ADMIN_PORT: '0',
})
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)

type Answer = { data: TargetTexts; error: { code: string; message: string; details: Record<string, string[]> } }

const sender =
  (key: string, base = baseUrl) =>
  async (method: string, path: string, body?: unknown, more: Record<string, string> = {}) => {
    const answer = await fetch(base + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, ...((await answer.json()) as Answer) }
  }

const newAccount = async (more: { scopes?: readonly ('capture' | 'read' | 'manage')[]; expiresAt?: Date } = {}) => {
  const { id } = await createAccount(database, { name: 'Acme', email: 'a@example.com', plan: 'unlimited' })
  const newKey = { accountId: id, name: 'k', domains: [], pepper: testPepper, ...more }
  const { id: keyId, key } = await createKey(database, newKey)
  return { id, keyId, key, send: sender(key) }
}

const lists = { allow: [], deny: ['*.ADS.example.', 'bücher.example', '198.51.100.7/24'] }
const normal = { allow: [], deny: ['*.ads.example', '198.51.100.0/24', 'xn--bcher-kva.example'] }

// Contract: Targets of an account
t.test('account targets: are empty, replaced as a whole, returned in normal form, and recorded', async (t) => {
  const { id, send } = await newAccount()
  t.match(await send('GET', '/v1/account/targets'), { status: 200, data: { allow: [], deny: [] } })
  t.match(await send('PUT', '/v1/account/targets', lists), { status: 200, data: normal })
  t.match(await send('GET', '/v1/account/targets'), { status: 200, data: normal })
  t.match(
    await database.query('select actor, action, detail from audit_entry where target = $1 order by at desc limit 1', [
      id,
    ]),
    [{ actor: /^key:/, action: 'account.set_targets', detail: { deny: { entries: 3, added: 3, removed: 0 } } }],
  )
  t.match(await send('PUT', '/v1/account/targets', { allow: [], deny: [] }), { status: 200, data: { deny: [] } })
  t.same(await database.query('select targets, targets_sha256 from account where id = $1', [id]), [
    { targets: null, targets_sha256: null },
  ])
})

// Contract: Targets of an account
t.test('account targets: a change is recorded by its first entries, and one that changes nothing is not', async (t) => {
  const { id, send } = await newAccount()
  const many = Array.from({ length: 100 }, (_, index) => `a${100 + index}.${'a'.repeat(60)}.${'b'.repeat(60)}.example`)
  const both = { allow: [...many], deny: [...many] }
  const same = { allow: many.map((name) => name.toUpperCase()), deny: many.toReversed() }
  for (const body of [both, same, both]) t.match(await send('PUT', '/v1/account/targets', body), { status: 200 })
  const recorded = () =>
    database.query<{ detail: object }>('select detail from audit_entry where target = $1 and action = $2 order by at', [
      id,
      'account.set_targets',
    ])
  const first = await recorded()
  t.equal(first.length, 1)
  const list = { entries: 100, added: 100, removed: 0, first_added: many.slice(0, 3), first_removed: [] }
  t.same(first[0]?.detail, { allow: list, deny: list })
  await send('PUT', '/v1/account/targets', { allow: [], deny: many.slice(1) })
  const none = { added: 0, first_added: [] }
  t.same((await recorded())[1]?.detail, {
    allow: { ...none, entries: 0, removed: 100, first_removed: many.slice(0, 3) },
    deny: { ...none, entries: 99, removed: 1, first_removed: many.slice(0, 1) },
  })
})

t.test('account targets: a change of one list keeps a change of the other that is made at once', async (t) => {
  const { id } = await newAccount()
  const store = targetStoreIn(database)
  const changes = await database.transaction(async ({ query }) => {
    await query('select from account where id = $1 for update', [id])
    const both = [{ allow: ['a.example'] }, { deny: ['b.example'] }].map((list) =>
      store.replace(id, list, 'command line'),
    )
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await eventually(async () => (await database.query(waiting)).length === 2)
    return both
  })
  await Promise.all(changes)
  t.same(await store.read(id), { allow: ['a.example'], deny: ['b.example'] })
})

t.test('account targets: the lists are not read with an account', async (t) => {
  const { id, send } = await newAccount()
  await send('PUT', '/v1/account/targets', lists)
  const account = await database.entities((entities) => findAccount(entities, id))
  t.equal(account.targets, undefined)
  t.same(await targetStoreIn(database).read(id), normal)
})

// Contract: Targets of an account
t.test('account targets: each wrong entry is named, and nothing changes', async (t) => {
  const { send } = await newAccount()
  const wrong = await send('PUT', '/v1/account/targets', {
    allow: ['https://a.example/'],
    deny: ['a.example', 'a..b', '*'],
  })
  t.equal(wrong.status, 422)
  t.same(Object.keys(wrong.error.details), ['allow.0', 'deny.1', 'deny.2'])
  t.match(wrong.error.details['deny.2'], [/^must be a host .*not '\*'$/])
  const long = Array.from({ length: 200 }, (_, index) => `${'a'.repeat(50)}.${'b'.repeat(50)}.a${index}.example`)
  t.match(await send('PUT', '/v1/account/targets', { allow: long, deny: long }), {
    status: 422,
    error: { details: { deny: [/^must have at most 32768 characters together with allow, not \d+$/] } },
  })
  t.match(await send('PUT', '/v1/account/targets', { allow: [], deny: [...long, 'a.example'] }), { status: 422 })
  t.match(await send('PUT', '/v1/account/targets', { deny: [] }), { status: 422 }, 'both lists are required')
  t.match(await send('GET', '/v1/account/targets'), { data: { allow: [], deny: [] } })
})

// Contract: Targets of an account
t.test('account targets: are changed with manage, by keys that do not expire, and by owners', async (t) => {
  const { id } = await newAccount()
  for (const more of [{ scopes: ['capture', 'read'] as const }, { expiresAt: new Date(Date.now() + 1e6) }]) {
    const { send } = await newAccount(more)
    t.match(await send('PUT', '/v1/account/targets', lists), { status: 403, error: { code: 'FORBIDDEN' } })
  }
  for (const [role, status] of [
    ['viewer', 403],
    ['member', 403],
    ['owner', 200],
  ] as const) {
    const person = await signIn(gateway, id, role)
    t.equal((await person.call('PUT', '/v1/account/targets', { body: lists })).status, status, role)
  }
  const admin = sender(adminToken, gateway.adminUrl)
  const path = `/admin/v1/accounts/${id}/targets`
  t.match(await admin('GET', path), { status: 200, data: normal })
  t.match(await admin('PUT', path, { allow: ['a.example'], deny: [] }), { data: { allow: ['a.example'], deny: [] } })
  t.match(await admin('PUT', path, { allow: ['a b'], deny: [] }), {
    status: 422,
    error: { details: { 'allow.0': [/./] } },
  })
})

const refused = (details: object) => ({ status: 422, error: { code: 'VALIDATION_ERROR', details } })

// Contract: Targets of an account
t.test(
  'account targets: a capture whose page is refused by name or address is not accepted, on any gateway',
  async (t) => {
    const { id, key, send } = await newAccount()
    const other = sender(key, (await gateway.startReplica()).baseUrl)
    const ads = { url: 'https://www.ads.example/', webhook_url: 'https://hooks.ads.example/' }
    t.match(await send('POST', '/v1/screenshots', ads), { status: 202 })
    t.match(await other('POST', '/v1/screenshots', ads), { status: 202 })
    await send('PUT', '/v1/account/targets', lists)
    const byEntry = { url: ['is denied by the entry *.ads.example of the targets of the account'] }
    for (const by of [send, other, send]) t.match(await by('POST', '/v1/screenshots', ads), refused(byEntry))
    t.match(await send('POST', '/v1/screenshots', { url: 'http://198.51.100.77/' }), { status: 422 })
    t.match(await send('POST', '/v1/screenshots', { url: 'https://ads.example/' }), { status: 202 }, 'not below itself')
    t.match(
      await send('POST', '/v1/screenshots', { url: 'https://a.example/', proxy: 'http://b.ads.example:8080' }),
      refused({ proxy: [/\*\.ads\.example/] }),
    )
    const urls = ['https://a.example/', 'https://b.ads.example/', 'https://BÜCHER.example/']
    t.match(
      await send('POST', '/v1/screenshots/batch', { urls }),
      refused({ 'urls.1': [/\*\.ads/], 'urls.2': [/xn--bcher/] }),
    )
    const [{ count }] = (await database.query<{ count: number }>(
      'select count(*)::integer as count from capture where account_id = $1',
      [id],
    )) as [{ count: number }]
    t.equal(count, 3, 'none of the refused')
    await other('PUT', '/v1/account/targets', { allow: [], deny: [] })
    t.match(await send('POST', '/v1/screenshots', ads), { status: 202 }, 'at once, after another gateway changed them')
  },
)

// Contract: Idempotency
t.test('account targets: a repeated request replays its capture, although the lists now refuse its page', async (t) => {
  const { send } = await newAccount()
  const url = 'https://www.ads.example/'
  const post = (path: string, body: object) => send('POST', path, body, { 'idempotency-key': path })
  const one = () => post('/v1/screenshots', { url })
  const batch = () => post('/v1/screenshots/batch', { urls: ['https://a.example/', url] })
  const first = [await one(), await batch()]
  await send('PUT', '/v1/account/targets', lists)
  for (const again of [
    [await one(), await batch()],
    [await one(), await batch()],
  ])
    t.match(again, first)
  t.match(await post('/v1/screenshots', { url, width: 800 }), {
    status: 422,
    error: { code: 'IDEMPOTENCY_MISMATCH' },
  })
  t.match(await send('POST', '/v1/screenshots', { url }), { status: 422, error: { code: 'VALIDATION_ERROR' } })
})

// Contract: Targets of an account
t.test('account targets: a capture is sealed with the lists of its account', async (t) => {
  const [one, two] = [await newAccount(), await newAccount()]
  await one.send('PUT', '/v1/account/targets', lists)
  for (const { id, send, expected } of [
    { ...one, expected: normal },
    { ...two, expected: undefined },
    { ...one, expected: normal },
  ]) {
    t.match(await send('POST', '/v1/screenshots', { url: 'https://a.example/' }), { status: 202 })
    const statement = 'select id, sealed from capture where account_id = $1 order by id desc limit 1'
    const [capture] = await database.query<{ id: string; sealed: Buffer }>(statement, [id])
    const plain = open([gateway.openingKeys.standard], capture?.id ?? '', capture?.sealed ?? Buffer.of())
    t.strictSame(sealedCodec.decode(plain).targets, expected)
  }
})

// Contract: Targets of an account
t.test('account targets: an allow list refuses all names that it does not have, also by a proxy', async (t) => {
  const { send } = await newAccount()
  await send('PUT', '/v1/account/targets', { allow: ['a.example', '198.51.100.0/24', 'proxy.example:8080'], deny: [] })
  const post = (body: object) => send('POST', '/v1/screenshots', body)
  t.match(await post({ url: 'https://a.example/' }), { status: 202 })
  t.match(await post({ url: 'https://b.example/' }), { status: 202 }, 'its addresses decide')
  const proxy = 'http://proxy.example:8080'
  t.match(await post({ url: 'https://a.example/', proxy }), { status: 202 })
  t.match(
    await post({ url: 'https://b.example/', proxy }),
    refused({ url: [/not among the allowed targets of the account/] }),
  )
  await send('PUT', '/v1/account/targets', { allow: ['a.example'], deny: [] })
  t.match(await post({ url: 'https://b.example/' }), refused({ url: [/not among the allowed/] }))
})

// Contract: Targets of the installation
t.test("account targets: the installation's lists refuse pages, proxies and webhooks by name", async (t) => {
  const { send } = await newAccount()
  const url = 'https://a.forbidden.example/'
  const message = /is denied by the entry \*\.forbidden\.example of the targets of this installation/
  t.match(
    await send('POST', '/v1/screenshots', { url, webhook_url: url }),
    refused({ url: [message], webhook_url: [message] }),
  )
  t.match(await send('POST', '/v1/webhooks', { url }), refused({ url: [message] }))
})

// Contract: Targets of an account
t.test('account targets: viewers of a link do not learn which entry refuses its page', async (t) => {
  const { send, key } = await newAccount()
  const made = await fetch(`${baseUrl}/v1/keys`, { headers: { authorization: `Bearer ${key}` } })
  const [{ id }] = ((await made.json()) as { data: [{ id: string }] }).data
  await send('POST', `/v1/keys/${id}/link-secret`)
  const link = await fetch(`${baseUrl}/v1/keys/${id}/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ parameters: { url: 'https://www.ads.example/' } }),
  })
  const { url } = ((await link.json()) as { data: { url: string } }).data
  await send('PUT', '/v1/account/targets', lists)
  const view = await fetch(baseUrl + url.slice(url.indexOf('/v1/render')))
  t.equal(view.status, 422)
  const { error } = (await view.json()) as Answer
  t.match(error, { code: 'BLOCKED', message: 'The account of the link does not allow captures of this page.' })
  t.notMatch(JSON.stringify(error), /\*\./)
})

// Contract: Targets of an account
t.test('account targets: a failed capture whose page is refused since is not requeued', async (t) => {
  const { id, send } = await newAccount()
  for (const url of ['https://www.ads.example/', 'https://a.example/'])
    t.match(await send('POST', '/v1/screenshots', { url }), { status: 202 })
  await database.query(
    `update capture set status = 'failed', part = 'ended', error_code = 'JOB_FAILED', completed_at = now() where account_id = $1`,
    [id],
  )
  await send('PUT', '/v1/account/targets', lists)
  const admin = sender(adminToken, gateway.adminUrl)
  const requeued = await admin('POST', `/admin/v1/accounts/${id}/queue/requeue`, {})
  t.match(requeued.data, { requeued: 1, left_out: { not_valid: 1 } })
  await send('PUT', '/v1/account/targets', { allow: [], deny: [] })
  const now = await admin('POST', `/admin/v1/accounts/${id}/queue/requeue`, {})
  t.same(now.data, { requeued: 1, left_out: {} }, 'at once when the owner removes the entry')
})

// Contract: Targets of the installation
t.test(
  "account targets: viewers of a link do not learn the installation's entry, and see its last image",
  async (t) => {
    const image = Buffer.from('the bytes of an image')
    await using _fleet = startStandInFleet(gateway, () => ({ image }))
    const { id, keyId, key, send } = await newAccount()
    const headers = { authorization: `Bearer ${key}` }
    const rotated = await fetch(`${baseUrl}/v1/keys/${keyId}/link-secret`, { method: 'POST', headers })
    const { secret } = ((await rotated.json()) as { data: { secret: string } }).data
    const query = signRenderLink(secret, { key_id: keyId, url: 'https://a.forbidden.example/', cache_ttl: '60' })
    const allowing = await gateway.startReplica(0, { DENY_TARGETS: 'other.example' })
    t.equal((await fetch(`${allowing.baseUrl}/v1/render?${query}`)).status, 200)

    const view = await fetch(`${baseUrl}/v1/render?${query}`)
    t.same(Buffer.from(await view.arrayBuffer()), image)
    const age = `update capture set created_at = created_at - interval '61 s', completed_at = completed_at - interval '61 s'`
    await database.query(`${age} where account_id = $1`, [id])
    const stale = await fetch(`${baseUrl}/v1/render?${query}`)
    t.same([stale.status, stale.headers.get('x-link-state')], [200, 'stale'])
    t.same(Buffer.from(await stale.arrayBuffer()), image)

    const other = signRenderLink(secret, { key_id: keyId, url: 'https://b.forbidden.example/' })
    const refusedView = await fetch(`${baseUrl}/v1/render?${other}`)
    const text = await refusedView.text()
    t.match(
      [refusedView.status, JSON.parse(text)],
      [422, { error: { code: 'BLOCKED', message: 'This installation does not allow captures of this page.' } }],
    )
    t.notMatch(text, /\*\./)
    t.equal((await database.query('select from capture where account_id = $1', [id])).length, 1)
    const signed = await send('POST', `/v1/keys/${keyId}/links`, {
      parameters: { url: 'https://b.forbidden.example/' },
    })
    t.match(signed, refused({ url: [/\*\.forbidden\.example/] }), 'who signs a link is told')
  },
)

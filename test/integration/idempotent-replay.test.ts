import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { claimKey, releaseKey, storeResponse } from '#gateway/db/idempotency-keys.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const { database, baseUrl } = await startGateway(t)
await replacePlans(database, defaultPlans)

type Body = { data: { id: string; secret: string; url: string }; error: { code: string } }
type Posted = { status: number; replayed: boolean; retryAfter: string | null; text: string; body: Body }

const newCaller = async (of?: string) => {
  const account = { name: 'A', email: 'a@example.com', plan: 'unlimited' }
  const accountId = of ?? (await createAccount(database, account)).id
  const { key } = await createKey(database, { accountId, name: 'key', domains: [], pepper: testPepper })
  const call = async (method: string, path: string, { body = {}, under = '' }: { body?: unknown; under?: string }) => {
    const response = await fetch(`${baseUrl}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(under !== '' && { 'idempotency-key': under }),
      },
      ...(method === 'POST' && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      replayed: response.headers.get('idempotent-replayed') === 'true',
      retryAfter: response.headers.get('retry-after'),
      text,
      body: (text === '' ? {} : JSON.parse(text)) as Body,
    }
  }
  const post = (path: string, body: unknown, under: string): Promise<Posted> => call('POST', path, { body, under })
  return { accountId, call, post }
}

const hook = { url: 'https://hooks.example/in' }
const count = async (table: 'webhook' | 'webhook_delivery', accountId: string) =>
  (await database.query(`select from ${table} where account_id = $1`, [accountId])).length

/** Simulates that the gateways serving an account's requests died before they stored their responses. */
const diedServing = (accountId: string, ago: string) =>
  database.query(
    'update idempotency_key set answer = null, serving = true, created_at = now() - $2::interval where account_id = $1',
    [accountId, ago],
  )

const same = (t: Test, first: Posted, again: Posted) => {
  t.same([again.status, again.text], [first.status, first.text])
  t.same([first.replayed, again.replayed], [false, true])
}

// Contract: Idempotency
t.test('idempotency: a POST that accepts no capture returns its stored response if repeated', async (t) => {
  const { accountId, post } = await newCaller()
  const created = await post('/webhooks', hook, 'make')
  t.match(created.body.data, { secret: /^whsec_/ })
  same(t, created, await post('/webhooks', hook, 'make'))
  t.equal(await count('webhook', accountId), 1)

  const path = `/webhooks/${created.body.data.id}`
  const rotated = await post(`${path}/rotate-secret`, {}, 'rotate')
  t.not(rotated.body.data.secret, created.body.data.secret)
  same(t, rotated, await post(`${path}/rotate-secret`, {}, 'rotate'))
  const tested = await post(`${path}/test`, {}, 'test')
  same(t, tested, await post(`${path}/test`, {}, 'test'))
  t.equal(await count('webhook_delivery', accountId), 1)
  const redeliver = `${path}/deliveries/${tested.body.data.id}/redeliver`
  const redelivered = await post(redeliver, {}, 'redeliver')
  t.equal(redelivered.status, 202)
  same(t, redelivered, await post(redeliver, {}, 'redeliver'))

  const [row] = await database.query<{ all: string }>(`select string_agg(k::text, ' ') as all from idempotency_key k`)
  for (const { secret } of [created.body.data, rotated.body.data]) {
    t.notMatch(row?.all, Buffer.from(secret).toString('hex'), 'the stored response is sealed')
  }
})

// Contract: Idempotency
t.test(
  'idempotency: an idempotency key belongs to one request of one operation and path, and to one account',
  async (t) => {
    const { post } = await newCaller()
    const first = await post('/webhooks', hook, 'one')
    for (const [path, body] of [
      ['/webhooks', { ...hook, description: 'other' }],
      [`/webhooks/${first.body.data.id}/test`, hook],
      ['/screenshots', { url: 'https://example.com/' }],
    ] as const) {
      t.match(await post(path, body, 'one'), { status: 422, body: { error: { code: 'IDEMPOTENCY_MISMATCH' } } }, path)
    }
    t.equal((await post('/screenshots', { url: 'https://example.com/' }, 'two')).status, 202)
    t.match(await post('/webhooks', hook, 'two'), { status: 422, body: { error: { code: 'IDEMPOTENCY_MISMATCH' } } })
    const other = await newCaller()
    t.match(await other.post('/webhooks', hook, 'one'), { status: 200, replayed: false })
  },
)

// Contract: Idempotency
t.test('idempotency: a secret that is shown once is repeated to the key that made the request alone', async (t) => {
  const { accountId, post } = await newCaller()
  const other = await newCaller(accountId)
  const created = await post('/webhooks', hook, 'made')
  const rotate = `/webhooks/${created.body.data.id}/rotate-secret`
  const rotated = await post(rotate, {}, 'rotated')
  const mismatch = { status: 422, body: { error: { code: 'IDEMPOTENCY_MISMATCH' } } }
  t.match(await other.post('/webhooks', hook, 'made'), mismatch)
  t.match(await other.post(rotate, {}, 'rotated'), mismatch)
  same(t, created, await post('/webhooks', hook, 'made'))
  same(t, rotated, await post(rotate, {}, 'rotated'))
})

// Contract: Idempotency
t.test('idempotency: an idempotency key belongs to one id of a path, and to one query', async (t) => {
  const { post } = await newCaller()
  const [one, other] = [await post('/webhooks', hook, ''), await post('/webhooks', hook, '')]
  const test = (webhook: Posted) => `/webhooks/${webhook.body.data.id}/test`
  const mismatch = { status: 422, body: { error: { code: 'IDEMPOTENCY_MISMATCH' } } }
  const first = await post(test(one), {}, 'one')
  t.equal(first.status, 202)
  t.match(await post(test(other), {}, 'one'), mismatch)
  t.match(await post(`${test(one)}?v=1`, {}, 'one'), mismatch)
  same(t, first, await post(test(one), {}, 'one'))
})

const claimOf = (accountId: string) => ({
  accountId,
  key: 'two actors',
  requestSha256: Buffer.alloc(32, 1),
  captureId: undefined,
  webhookId: undefined,
})

t.test('idempotency: concurrent claims of one account are serialised, and one of them serves', async (t) => {
  const { accountId } = await newCaller()
  const request = claimOf(accountId)
  const release = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const holding = database.transaction(async (sql) => {
    await sql.query('select from account_meter where account_id = $1 for update', [accountId])
    held.resolve()
    await release.promise
  })
  await held.promise
  const claims = [claimKey(database, request), claimKey(database, request)]
  const waiting = () =>
    database.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%claim_answer%'`,
    )
  await eventually(async () => (await waiting()).length === 2, { what: 'both claims wait for the account' })
  release.resolve()
  await holding
  const outcomes = (await Promise.all(claims)).map(({ outcome }) => outcome)
  t.same(outcomes.toSorted(), ['claimed', 'running'])
})

t.test('idempotency: a late server can neither store nor release a claim taken over by another', async (t) => {
  const { accountId } = await newCaller()
  const request = claimOf(accountId)
  const claim = async () => {
    const claimed = await claimKey(database, request)
    if (claimed.outcome !== 'claimed') throw new Error(claimed.outcome)
    return { ...request, claimedAt: claimed.claimedAt }
  }
  const outcome = async () => (await claimKey(database, request)).outcome
  const late = await claim()
  await diedServing(accountId, '61 seconds')
  const second = await claim()
  await releaseKey(database, late)
  t.equal(await outcome(), 'running', 'the second claim is still being served')
  await storeResponse(database, late, Buffer.from('late'))
  t.equal(await outcome(), 'running')
  await storeResponse(database, second, Buffer.from('second'))
  await releaseKey(database, late)
  await storeResponse(database, late, Buffer.from('late'))
  t.match(await claimKey(database, request), { outcome: 'kept', answer: Buffer.from('second') })
})

t.test('idempotency: the holder of a claim can release it, and the key is free at once', async (t) => {
  const { accountId } = await newCaller()
  const request = claimOf(accountId)
  const claimed = await claimKey(database, request)
  t.match(claimed, { outcome: 'claimed', claimedAt: String })
  if (claimed.outcome === 'claimed') await releaseKey(database, { ...request, claimedAt: claimed.claimedAt })
  t.equal((await claimKey(database, request)).outcome, 'claimed')
})

t.test('idempotency: a refused request leaves its key free, and an invalid key is refused', async (t) => {
  const { post, accountId } = await newCaller()
  t.equal((await post('/webhooks', { url: 'http://a' }, 'free')).status, 422)
  t.equal((await post(`/webhooks/${randomUUID()}/test`, {}, 'free')).status, 404)
  t.match(await post('/webhooks', hook, 'free'), { status: 200, replayed: false })
  const refused = { status: 422, body: { error: { details: { 'Idempotency-Key': [/255/] } } } }
  t.match(await post('/webhooks', hook, 'a'.repeat(256)), refused)
  t.equal(await count('webhook', accountId), 1)
})

t.test('idempotency: of concurrent requests with one key one is served; others get its response or 503', async (t) => {
  const { post, accountId } = await newCaller()
  const answers = await Promise.all(Array.from({ length: 12 }, () => post('/webhooks', hook, 'once')))
  const served = answers.find(({ status, replayed }) => status === 200 && !replayed)
  t.equal(await count('webhook', accountId), 1)
  for (const { status, retryAfter, text } of answers) {
    if (status === 200) t.equal(text, served?.text)
    else t.same([status, retryAfter], [503, '1'])
  }
  same(t, served!, await post('/webhooks', hook, 'once'))
})

// Contract: Idempotency
t.test('idempotency: the key of a server that died is free after a minute, and every key after a day', async (t) => {
  const { post, accountId } = await newCaller()
  const first = await post('/webhooks', hook, 'old')
  const age = (by: string) =>
    database.query(`update idempotency_key set created_at = now() - $2::interval where account_id = $1`, [
      accountId,
      by,
    ])
  await diedServing(accountId, '50 seconds')
  t.equal((await post('/webhooks', hook, 'old')).status, 503)
  await diedServing(accountId, '61 seconds')
  const second = await post('/webhooks', hook, 'old')
  t.match([second.status, second.replayed], [200, false])
  t.not(second.text, first.text)
  await age('23:59:00')
  same(t, second, await post('/webhooks', hook, 'old'))
  await age('24:00:01')
  t.match(await post('/webhooks', hook, 'old'), { status: 200, replayed: false })
})

// Contract: Idempotency
t.test('idempotency: the key of a server that died is free after a minute, for different requests too', async (t) => {
  const { post, accountId } = await newCaller()
  const other = { ...hook, description: 'other' }
  const mismatch = { status: 422, body: { error: { code: 'IDEMPOTENCY_MISMATCH' } } }
  for (const key of ['one', 'two']) await post('/webhooks', hook, key)
  await diedServing(accountId, '50 seconds')
  t.match(await post('/webhooks', other, 'one'), mismatch)
  t.match(await post('/screenshots', { url: 'https://example.com/' }, 'two'), mismatch)
  await diedServing(accountId, '61 seconds')
  const created = await post('/webhooks', other, 'one')
  t.match(created, { status: 200, replayed: false })
  same(t, created, await post('/webhooks', other, 'one'))
  const captured = await post('/screenshots', { url: 'https://example.com/' }, 'two')
  t.match(captured, { status: 202, replayed: false })
  await database.query(`update idempotency_key set created_at = now() - interval '1 hour' where account_id = $1`, [
    accountId,
  ])
  t.match(await post('/webhooks', hook, 'two'), mismatch, 'the accepted capture keeps its key')
  t.match(await post('/screenshots', { url: 'https://example.com/' }, 'two'), { status: 202, replayed: true })
})

// Contract: Order of checks
t.test('idempotency: a deleted webhook frees its keys, and no stored response returns its secret', async (t) => {
  const { accountId, call, post } = await newCaller()
  const created = await post('/webhooks', hook, 'make')
  const path = `/webhooks/${created.body.data.id}`
  await post(`${path}/rotate-secret`, {}, 'rotate')
  await post('/webhooks', hook, 'another')
  t.equal((await call('DELETE', path, {})).status, 204)
  t.equal((await post(`${path}/rotate-secret`, {}, 'rotate')).status, 404)
  const again = await post('/webhooks', hook, 'make')
  t.match(again, { status: 200, replayed: false })
  t.not(again.body.data.id, created.body.data.id)
  t.equal((await post('/webhooks', hook, 'another')).replayed, true, 'keys of other webhooks stay')
  t.equal(await count('webhook', accountId), 2)
})

t.test('idempotency: a repeated request returns the same link, until its capture is deleted', async (t) => {
  const { call, post } = await newCaller()
  const { id } = (await post('/screenshots', { url: 'https://example.com/' }, '')).body.data
  const path = `/screenshots/${id}/signed-url`
  const link = await post(path, { expires_in: 5 }, 'link')
  t.match(link.body.data.url, /signature=/)
  same(t, link, await post(path, { expires_in: 5 }, 'link'))
  t.equal((await call('DELETE', `/screenshots/${id}`, {})).status, 204)
  t.equal((await post(path, { expires_in: 5 }, 'link')).status, 404)
  t.match(await post('/webhooks', hook, 'link'), { status: 200, replayed: false })
})

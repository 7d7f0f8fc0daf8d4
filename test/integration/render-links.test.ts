import { createHash } from 'node:crypto'
import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey, revokeKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { signRenderLink, type LinkParameters } from '#gateway/links/render-link.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { codeOf, sendJson } from '#test/helpers/console-client.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { type Behaviour, startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const gateway = await startGateway(t, { KEY_FAILURES_PER_MINUTE: '1000', LINK_REQUESTS_BURST: '1000' })
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)

const image = Buffer.from('the bytes of an image')
const pages = new Map<string, Behaviour>()
const fleet = startStandInFleet(gateway, ({ options }) => pages.get(options.url ?? '') ?? { image })
t.teardown(() => fleet[Symbol.asyncDispose]())
const capturedOf = (url: string) => fleet.received.filter(({ part }) => part.options.url === url).length

type Data = Readonly<Record<string, string>>
const dataOf = async (answer: Response): Promise<Data> => ((await answer.json()) as { data: Data }).data

/** An account with a key and its link secret. */
const newSigner = async (plan = 'unlimited', domains: readonly string[] = []) => {
  const { id: accountId } = await createAccount(database, { name: 'Acme', email: 'a@example.com', plan })
  const owner = await createKey(database, { accountId, name: 'owner', domains: [], pepper: testPepper })
  const { id: keyId } =
    domains.length === 0
      ? owner
      : await createKey(database, { accountId, name: 'restricted', domains, pepper: testPepper })
  const send = (method: string, path: string, body?: unknown) =>
    sendJson(`${baseUrl}/v1${path}`, method, { body, headers: { authorization: `Bearer ${owner.key}` } })
  const rotate = (body?: object) => send('POST', `/keys/${keyId}/link-secret`, body)
  const { secret = '' } = await dataOf(await rotate())
  const link = (parameters: LinkParameters, by = secret) =>
    `${baseUrl}/v1/render?${signRenderLink(by, { key_id: keyId, ...parameters })}`
  return { accountId, keyId, key: owner.key, secret, send, rotate, link }
}

const usedOf = async (accountId: string) => {
  const rows = await database.query<{ used: number }>(
    'select coalesce(sum(reserved + settled), 0)::integer as used from usage where account_id = $1',
    [accountId],
  )
  return rows[0]?.used
}

const ageCaptures = (accountId: string, seconds: number) =>
  database.query(
    `update capture set created_at = created_at - $2 * interval '1 second', completed_at = completed_at - $2 * interval '1 second'
      where account_id = $1`,
    [accountId, seconds],
  )

// Contract: Render links
t.test('render links: the first view captures, the second one shows the same image free of charge', async (t) => {
  const { accountId, link } = await newSigner()
  const address = link({ url: 'https://example.com/first', cache_ttl: '3600' })
  const first = await fetch(address)
  t.same([first.status, Buffer.from(await first.arrayBuffer())], [200, image])
  t.match(Object.fromEntries(first.headers), {
    'content-type': 'image/png',
    etag: `"${createHash('sha256').update(image).digest('hex')}"`,
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
    'x-cache': 'MISS',
    'x-link-state': 'fresh',
  })
  const maxAgeOf = (view: Response) => Number(view.headers.get('cache-control')?.replace('public, max-age=', ''))
  t.ok(maxAgeOf(first) > 3500 && maxAgeOf(first) <= 3600)
  t.equal(first.headers.get('x-usage-reset'), null, 'a viewer learns nothing of the account')
  const expires = String(Math.floor(Date.now() / 1000) + 60)
  t.ok(maxAgeOf(await fetch(link({ url: 'https://example.com/first', cache_ttl: '3600', expires }))) <= 60)
  const second = await fetch(address)
  t.same([second.status, second.headers.get('x-cache')], [200, 'HIT'])
  await second.arrayBuffer()
  const known = await fetch(address, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } })
  t.equal(known.status, 304)
  const head = await fetch(address, { method: 'HEAD' })
  t.same([head.status, head.headers.get('content-length')], [200, String(image.length)])
  t.same([await usedOf(accountId), capturedOf('https://example.com/first')], [1, 1])
})

// Contract: Render links
t.test('render links: views at once, on two gateways, are one capture and one charge', async (t) => {
  const { accountId, link } = await newSigner()
  const replica = await gateway.startReplica()
  const held = Promise.withResolvers<void>()
  pages.set('https://example.com/held', { image, before: () => held.promise })
  const address = link({ url: 'https://example.com/held' })
  const elsewhere = address.replace(baseUrl, replica.baseUrl)
  const views = [address, elsewhere, address, elsewhere, address].map((each) => fetch(each))
  await eventually(async () => capturedOf('https://example.com/held') === 1)
  held.resolve()
  for (const view of await Promise.all(views)) {
    t.same([view.status, Buffer.from(await view.arrayBuffer())], [200, image])
  }
  const rows = await database.query('select from capture where account_id = $1', [accountId])
  t.same([rows.length, await usedOf(accountId)], [1, 1])
})

// Contract: Render links
t.test('render links: a stale image is served while one view has it captured anew', async (t) => {
  const { accountId, link } = await newSigner()
  const url = 'https://example.com/changes'
  const address = link({ url, cache_ttl: '60' })
  await (await fetch(address)).arrayBuffer()
  const held = Promise.withResolvers<void>()
  const newer = Buffer.from('a newer image')
  pages.set(url, { image: newer, before: () => held.promise })
  await ageCaptures(accountId, 61)
  for (let views = 0; views < 4; views += 1) {
    const stale = await fetch(address)
    t.match(
      [stale.headers.get('x-link-state'), stale.headers.get('cache-control'), Buffer.from(await stale.arrayBuffer())],
      ['stale', 'public, no-cache', image],
    )
  }
  await eventually(async () => capturedOf(url) === 2)
  held.resolve()
  await eventually(async () => (await fetch(address)).headers.get('x-link-state') === 'fresh')
  t.same(Buffer.from(await (await fetch(address)).arrayBuffer()), newer)
  t.equal(await usedOf(accountId), 2)
  const activities = () =>
    database.query(`select from activity where account_id = $1 and operation = 'render' and key_id is not null`, [
      accountId,
    ])
  await eventually(async () => (await activities()).length >= 2)
  t.equal((await activities()).length, 2, 'each capture is an activity of the key, no view is')
})

// Contract: Render links
t.test('render links: a placeholder of the size of the image is shown while the first one is made', async (t) => {
  const { link } = await newSigner()
  const url = 'https://example.com/slow'
  const held = Promise.withResolvers<void>()
  pages.set(url, { image, before: () => held.promise })
  const address = link({ url, width: '640', height: '400', placeholder: 'true' })
  const first = await fetch(address)
  t.match(Object.fromEntries(first.headers), {
    'content-type': 'image/png',
    'cache-control': 'no-store',
    'retry-after': '5',
    'x-link-state': 'placeholder',
  })
  const png = Buffer.from(await first.arrayBuffer())
  t.same([png.readUInt32BE(16), png.readUInt32BE(20)], [640, 400])
  held.resolve()
  await eventually(async () => (await fetch(address)).headers.get('x-link-state') === 'fresh')
  t.equal(capturedOf(url), 1)
})

// Contract: Render links
t.test('render links: a failed capture is not repeated by each view, and a stale image outlives it', async (t) => {
  const { accountId, link } = await newSigner()
  const url = 'https://example.com/fails'
  pages.set(url, { fails: 'DNS_FAILED' })
  const address = link({ url, cache_ttl: '60' })
  const first = await fetch(address)
  t.match(Object.fromEntries(first.headers), { 'cache-control': 'no-store', 'retry-after': /^\d+$/ })
  t.same(await codeOf(first), [422, 'DNS_FAILED'])
  for (let views = 0; views < 3; views += 1) t.same(await codeOf(await fetch(address)), [422, 'DNS_FAILED'])
  t.same([capturedOf(url), await usedOf(accountId)], [1, 0])

  pages.delete(url)
  await ageCaptures(accountId, 301)
  await eventually(async () => (await fetch(address)).status === 200)
  pages.set(url, { fails: 'TIMEOUT' })
  await ageCaptures(accountId, 61)
  t.equal((await fetch(address)).headers.get('x-link-state'), 'stale')
  await eventually(async () => capturedOf(url) === 3)
  const failed = () =>
    database.query(`select from capture where account_id = $1 and error_code = 'TIMEOUT'`, [accountId])
  await eventually(async () => (await failed()).length === 1)
  for (let views = 0; views < 3; views += 1) t.equal((await fetch(address)).headers.get('x-link-state'), 'stale')
  t.equal(capturedOf(url), 3)
})

// Contract: Render links
t.test('render links: an altered, repeated or added parameter, or none of the secrets, gives 403', async (t) => {
  const [{ link, secret, keyId }, other] = [await newSigner(), await newSigner()]
  const address = link({ url: 'https://example.com/guarded', width: '800' })
  const wrong = {
    altered: address.replace('width=800', 'width=900'),
    added: `${address}&full_page=true`,
    removed: address.replace('&width=800', ''),
    repeated: `${address}&width=800`,
    unsigned: address.replace(/&signature=.*/, ''),
    short: address.slice(0, -1),
    ofAnotherKey: link({ url: 'https://example.com/guarded' }, other.secret),
    toAnotherKey: link({ url: 'https://example.com/guarded', key_id: other.keyId }),
    ofNoKey: link({ url: 'https://example.com/guarded', key_id: other.accountId }),
    undecodable: `${address}&x=%ff`,
    expiryOfText: link({ url: 'https://example.com/guarded', expires: 'never' }),
  }
  for (const [name, each] of Object.entries(wrong)) {
    t.same(await codeOf(await fetch(each)), [403, 'INVALID_SIGNATURE'], name)
  }
  const long = await fetch(link({ html: 'x'.repeat(9000) }))
  t.same(await codeOf(long), [414, 'URI_TOO_LONG'])
  t.equal(capturedOf('https://example.com/guarded'), 0)
  const reordered = `${baseUrl}/v1/render?${signRenderLink(secret, { key_id: keyId, url: 'https://example.com/a b' })
    .split('&')
    .toReversed()
    .join('&')
    .replaceAll('%20', '+')}`
  t.equal((await fetch(reordered)).status, 200, 'order and encoding are not signed')
})

// Contract: Render links
// Contract: Link secrets
t.test(
  'render links: end with their time, their key, its account and their secret, on every gateway at once',
  async (t) => {
    const signer = await newSigner()
    const { link, keyId, rotate, accountId } = signer
    const replica = await gateway.startReplica()
    const everywhere = async (address: string): Promise<unknown[]> =>
      await Promise.all(
        [baseUrl, replica.baseUrl].map(async (base) => (await fetch(address.replace(baseUrl, base))).status),
      )
    const now = Math.floor(Date.now() / 1000)
    const url = 'https://example.com/ends'
    t.equal((await fetch(link({ url, expires: String(now + 60) }))).status, 200)
    t.same(await codeOf(await fetch(link({ url, expires: String(now - 1) }))), [403, 'SIGNATURE_EXPIRED'])

    const first = link({ url })
    t.same(await everywhere(first), [200, 200])
    const { secret: second = '', previous_expires_at: until = '' } = await dataOf(await rotate())
    t.ok(Math.abs(Date.parse(until) - Date.now() - 86_400_000) < 60_000)
    t.same(await everywhere(first), [200, 200], 'links of the previous secret are served for a day')
    t.same(await everywhere(link({ url }, second)), [200, 200])
    const { secret: third = '', previous_expires_at: none } = await dataOf(await rotate({ previous_valid_seconds: 0 }))
    t.same([await everywhere(first), none], [[403, 403], null], 'unless that is not wanted')
    t.same(await everywhere(link({ url }, second)), [403, 403])
    const last = link({ url }, third)
    t.same(await everywhere(last), [200, 200])

    await database.query('update account set disabled_at = now() where id = $1', [accountId])
    t.same(await everywhere(last), [403, 403])
    await database.query('update account set disabled_at = null where id = $1', [accountId])
    await database.query(`update api_key set expires_at = now() - interval '1 second' where id = $1`, [keyId])
    t.same(await everywhere(last), [403, 403])
    await database.query('update api_key set expires_at = null where id = $1', [keyId])
    t.same(await everywhere(last), [200, 200])
    await revokeKey(database, keyId)
    t.same(await everywhere(last), [403, 403])
    t.same(await codeOf(await fetch(last)), [403, 'INVALID_SIGNATURE'])
  },
)

// Contract: Render links
t.test('render links: need the plan feature, the domains of the key, and parameters without credentials', async (t) => {
  const pro = await newSigner('pro')
  const address = pro.link({ url: 'https://example.com/plan' })
  t.equal((await fetch(address)).status, 200)
  await database.query(`update account set plan = 'starter' where id = $1`, [pro.accountId])
  t.same(await codeOf(await fetch(address)), [403, 'FEATURE_NOT_AVAILABLE'])
  t.same(await codeOf(await pro.rotate()), [403, 'FEATURE_NOT_AVAILABLE'])
  const sent = await pro.send('POST', `/keys/${pro.keyId}/links`, { parameters: { url: 'https://example.com/' } })
  t.same(await codeOf(sent), [403, 'FEATURE_NOT_AVAILABLE'])

  const shop = await newSigner('unlimited', ['*.shop.example'])
  const restricted = shop.link({ url: 'https://example.com/shop' })
  t.same(await codeOf(await fetch(restricted)), [403, 'DOMAIN_NOT_ALLOWED'])
  t.same(await codeOf(await fetch(restricted, { headers: { referer: 'https://shop.example.evil.example/' } })), [
    403,
    'DOMAIN_NOT_ALLOWED',
  ])
  const shown = await fetch(restricted, { headers: { referer: 'https://www.shop.example/' } })
  t.match(
    [shown.status, shown.headers.get('cache-control'), shown.headers.get('vary')],
    [200, /^private, max-age=/, 'Origin, Referer'],
    'shared caches may not answer for the gateway',
  )

  const { link } = await newSigner()
  const refused = {
    headers: '{"Authorization":"Basic eA=="}',
    cookies: '[{"name":"a","value":"b"}]',
    proxy: 'http://user:secret@proxy.example:8080',
    webhook_url: 'https://hooks.example/',
    outputs: 'html',
    cache_ttl: '59',
    no_such: '1',
  }
  for (const [name, value] of Object.entries(refused)) {
    const view = await fetch(link({ url: 'https://example.com/', [name]: value }))
    t.match([view.status, await view.json()], [422, { error: { details: { [name]: [String] } } }], name)
  }
  const withPassword = await fetch(link({ url: 'https://user:secret@example.com/' }))
  t.match([withPassword.status, await withPassword.json()], [422, { error: { details: { url: [String] } } }])
})

// Contract: Scopes of keys
t.test('render links: a link captures by a key that may capture, and only such a key makes links', async (t) => {
  const { accountId, keyId, key, link } = await newSigner()
  const manage = await createKey(database, {
    accountId,
    name: 'm',
    domains: [],
    scopes: ['manage'],
    pepper: testPepper,
  })
  const headers = { authorization: `Bearer ${manage.key}` }
  for (const [path, body] of [
    ['link-secret', undefined],
    ['links', { parameters: { url: 'https://example.com/' } }],
  ] as const) {
    const call = (more: Readonly<Record<string, string>>) =>
      sendJson(`${baseUrl}/v1/keys/${keyId}/${path}`, 'POST', { headers: more, body })
    const once = { 'idempotency-key': path }
    t.same(await codeOf(await call(headers)), [403, 'FORBIDDEN'])
    t.equal((await call({ ...once, authorization: `Bearer ${key}` })).status, 200)
    t.same(await codeOf(await call({ ...once, ...headers })), [422, 'IDEMPOTENCY_MISMATCH'], 'nor has one repeated')
  }
  const address = link({ url: 'https://example.com/scope' })
  await (await fetch(address)).arrayBuffer()
  await database.query(`update api_key set scopes = '{read,manage}' where id = $1 returning id`, [keyId])
  t.same(await codeOf(await fetch(address)), [403, 'INVALID_SIGNATURE'])
})

// Contract: Render links
t.test('render links: with the quota used up a stale image is shown, and views do not use up the minute', async (t) => {
  const { accountId, link } = await newSigner('pro')
  await database.query(
    `update plan set screenshots_per_month = 1, overage_price = null, rate_limit_per_minute = 5 where slug = 'pro'`,
  )
  t.teardown(() => replacePlans(database, defaultPlans))
  const url = 'https://example.com/quota'
  const address = link({ url, cache_ttl: '60' })
  await (await fetch(address)).arrayBuffer()
  await ageCaptures(accountId, 61)
  for (let views = 0; views < 8; views += 1) t.equal((await fetch(address)).headers.get('x-link-state'), 'stale')
  const metrics = await (await fetch(`${gateway.probeUrl}/metrics`)).text()
  t.match(metrics, /link_refreshes_refused_total\{code="USAGE_LIMIT_EXCEEDED"[^}]*\} 8\n/)
  const cold = link({ url: 'https://example.com/cold' })
  for (let views = 0; views < 8; views += 1) t.same(await codeOf(await fetch(cold)), [402, 'USAGE_LIMIT_EXCEEDED'])
  const shown = await fetch(link({ url: 'https://example.com/grey', placeholder: '1' }))
  t.equal(shown.headers.get('x-link-state'), 'placeholder')
  const [meter] = await database.query<{ requests: number }>(
    'select requests from account_meter where account_id = $1',
    [accountId],
  )
  t.ok((meter?.requests ?? 99) <= 5, 'refusals are cached')
  t.equal(capturedOf(url), 1)
})

// Contract: Render links
// Contract: Link secrets
t.test('render links: the gateway signs links for those who do not have the secret', async (t) => {
  const { accountId, keyId, send } = await newSigner()
  const parameters = { url: 'https://example.com/signed', hide_selectors: ['.a', '.b'], width: 900 }
  const made = await dataOf(await send('POST', `/keys/${keyId}/links`, { parameters, expires_in: 10 }))
  const { url = '', expires_at: until = '' } = made
  t.ok(Math.abs(Date.parse(until) - Date.now() - 600_000) < 60_000)
  t.equal((await fetch(url)).status, 200)
  const captured = fleet.received.find((each) => each.part.options.url === 'https://example.com/signed')
  t.match(captured?.part.options, { hide_selectors: ['.a', '.b'], cache_ttl: 86_400, on_timeout: 'capture' })
  const refusal = await send('POST', `/keys/${keyId}/links`, { parameters: { url: 'nonsense', cookies: [] } })
  t.match([refusal.status, await refusal.json()], [422, { error: { details: { url: [String], cookies: [String] } } }])

  const other = await newSigner()
  for (const path of ['links', 'link-secret']) {
    const body = path === 'links' ? { parameters: { url: 'https://example.com/' } } : {}
    t.same(await codeOf(await other.send('POST', `/keys/${keyId}/${path}`, body)), [404, 'NOT_FOUND'])
  }
  const expiring = await createKey(database, {
    ...{ accountId, name: 'expiring', domains: [], pepper: testPepper, expiresAt: new Date(Date.now() + 60_000) },
  })
  const forbidden = await sendJson(`${baseUrl}/v1/keys/${keyId}/link-secret`, 'POST', {
    headers: { authorization: `Bearer ${expiring.key}` },
  })
  t.same(await codeOf(forbidden), [403, 'FORBIDDEN'])
})

// Contract: Render links
t.test('render links: wrong signatures of one client are limited, and do not end those that are right', async (t) => {
  const limited = await startGateway(t, { KEY_FAILURES_PER_MINUTE: '3' })
  await replacePlans(limited.database, defaultPlans)
  const { id: accountId } = await createAccount(limited.database, {
    name: 'A',
    email: 'a@a.example',
    plan: 'unlimited',
  })
  const { id, key } = await createKey(limited.database, { accountId, name: 'k', domains: [], pepper: testPepper })
  const authorization = `Bearer ${key}`
  const rotated = await sendJson(`${limited.baseUrl}/v1/keys/${id}/link-secret`, 'POST', { headers: { authorization } })
  const { secret = '' } = await dataOf(rotated)
  const sign = (by: string) =>
    `${limited.baseUrl}/v1/render?${signRenderLink(by, { key_id: id, url: 'https://example.com/', placeholder: 'true' })}`
  t.equal((await fetch(sign(secret))).status, 200)
  const outcomes = []
  for (let views = 0; views < 6; views += 1) outcomes.push((await fetch(sign(`lsk_${views}`))).status)
  t.same(outcomes, [403, 403, 403, 429, 429, 429])
  t.equal((await fetch(sign(secret))).status, 200)
})

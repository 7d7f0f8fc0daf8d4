import { randomUUID } from 'node:crypto'
import t from 'tap'
import { type Feature, featureNames } from '#shared/capture/features.ts'
import { captureParameters } from '#shared/capture/options.ts'
import { createAccount, setPlan } from '#shared/db/accounts.ts'
import { changeKey, createKey, revokeKey } from '#shared/db/keys.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { deleteCapture } from '#gateway/db/captures.ts'
import { findSealedCapture } from '#shared/db/find-capture.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { advanceCapture } from '#test/helpers/advance-capture.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const image = Buffer.from('the bytes of an image')
const gateway = await startGateway(t)
const { database, baseUrl } = gateway
const unhurried = (plan: (typeof defaultPlans)[number]) => ({
  ...plan,
  slug: `${plan.slug}-unhurried`,
  rate_limit_per_minute: null,
})
await replacePlans(database, [...defaultPlans, ...defaultPlans.map(unhurried)])
const fleet = startStandInFleet(gateway, ({ options }) => (options.url?.endsWith('/held') ? 'nothing' : { image }))
t.teardown(() => fleet[Symbol.asyncDispose]())

type Answer = { data: Record<string, unknown>; error: { code: string; message: string; details?: object } }
const url = 'https://example.com/'

const newAccount = async (plan: string) => {
  const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan })
  // Without the check of the plan, which the API makes.
  await database.query(
    `insert into upload_destination (id, account_id, name, endpoint, region, bucket, path_style, url, prefix, access_key_id,
                                     sealed_secret, created_at)
     values (gen_random_uuid(), $1, 'archive', '', '', '', true, 'https://s3.example.com/a', '', '', '', now())`,
    [id],
  )
  const newKey = (domains: string[] = []) =>
    createKey(database, { accountId: id, name: '', domains, pepper: testPepper })
  const { id: keyId, key } = await newKey()
  const callWith =
    (bearer: string, base: string) =>
    (path: string, body?: object, headers: object = {}) =>
      fetch(`${base}/v1${path}`, {
        headers: { authorization: `Bearer ${bearer}`, ...(body && { 'content-type': 'application/json' }), ...headers },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      })
  const call = callWith(key, baseUrl)
  const ask = async (...parameters: Parameters<typeof call>) => {
    const answer = await call(...parameters)
    return { status: answer.status, headers: answer.headers, ...((await answer.json()) as Answer) }
  }
  const create = async (body: object = {}) => String((await ask('/screenshots', { url, ...body })).data['id'])
  const held = () => create({ url: `${url}held` })
  const record = async (capture: string) => (await ask(`/screenshots/${capture}`)).data
  /** Hours for which the image of a completed capture is kept. Reads the database, because requests are limited. */
  const retained = async (capture: string) => {
    const find = () => findSealedCapture(database, { id: capture, accountId: id })
    await eventually(async () => (await find())?.status === 'completed')
    const { completedAt, expiresAt } = (await find())!
    return (Date.parse(expiresAt!) - Date.parse(completedAt!)) / 3_600_000
  }
  const charges = async () =>
    await database.query(
      'select reserved::integer, settled::integer from usage where account_id = $1 order by period',
      [id],
    )
  return { id, keyId, key, newKey, callWith, call, ask, create, held, record, retained, charges }
}

const plansWith: Record<string, Feature[]> = {
  starter: ['device_presets', 'retina', 'block_ads', 'block_chats', 'pdf', 'html', 'webhooks', 'headers', 'cookies'],
  pro: ['dark_mode', 'css', 'js', 'stealth', 'timezone', 'extract_metadata', 'markdown'],
  growth: ['geolocation', 'proxy'],
}
const gatedUses: Partial<Record<Feature, object>> = {
  device_presets: { device: 'mobile' },
  retina: { retina: true, scale: 2 },
  block_ads: { block_ads: true, block_trackers: true },
  block_chats: { block_chats: true },
  pdf: { format: 'pdf' },
  html: { url: undefined, html: '<p>a</p>' },
  webhooks: { webhook_url: 'https://hooks.example.com/', upload_to: 'archive' },
  headers: { headers: { a: 'b' }, header_origins: ['https://a.com'] },
  cookies: { cookies: [{ name: 'a', value: 'b' }], local_storage: { a: 'b' }, session_storage: { a: 'b' } },
  dark_mode: { dark_mode: true },
  css: { css: 'a{}' },
  js: { js: '1', wait_for_function: '1' },
  stealth: { stealth: true },
  timezone: { timezone: 'Europe/Paris' },
  extract_metadata: { extract_metadata: true, outputs: ['text'] },
  markdown: { url: undefined, markdown: '# a' },
  geolocation: { geolocation: { latitude: 1, longitude: 1 } },
  proxy: { proxy: 'http://proxy.example.com:3128' },
}

// Contract: Plans
t.test('gateway plans: each plan has the features of the table, and refuses the others by name', async (t) => {
  const order = ['free', 'starter', 'pro', 'growth', 'business', 'unlimited']
  const lowest = (feature: Feature) => order.findIndex((plan) => plansWith[plan]?.includes(feature))
  for (const [place, plan] of order.entries()) {
    const { ask } = await newAccount(`${plan}-unhurried`)
    const refused: string[] = []
    for (const [feature, use] of Object.entries(gatedUses)) {
      const { status, error } = await ask('/screenshots', { url: `${url}held`, ...use })
      if (status !== 403) continue
      t.match(error, { code: 'FEATURE_NOT_AVAILABLE', message: new RegExp(feature) })
      refused.push(feature)
    }
    const batch = await ask('/screenshots/batch', { urls: [`${url}held`] })
    const link = await ask(`/screenshots/${randomUUID()}/signed-url`, {})
    t.same(
      refused,
      (Object.keys(gatedUses) as Feature[]).filter((feature) => lowest(feature) > place),
      plan,
    )
    t.same([batch.status, link.status], [place < 1 ? 403 : 202, place < 2 ? 403 : 404], plan)
  }
  t.same(
    [...Object.keys(gatedUses), 'batch', 'signed_urls'].toSorted(),
    featureNames.toSorted(),
    'every feature is tested',
  )
})

// Contract: Parameters outside the feature matrix
t.test('gateway plans: every parameter outside the feature table is open to the smallest plan', async (t) => {
  const { ask } = await newAccount('free-unhurried')
  const selector = '#a'
  const open = {
    ...{
      url: `${url}held`,
      width: 400,
      height: 300,
      format: 'tiff',
      quality: 5,
      resize_width: 100,
      resize_height: 100,
    },
    ...{ omit_background: true, pdf_landscape: true, pdf_page_format: 'A3', delay: 1, timeout: 5, full_page: true },
    ...{ pdf_margin_top: '1in', pdf_margin_right: '1in', pdf_margin_bottom: '1in', pdf_margin_left: '1in' },
    ...{
      wait_until: 'network_idle',
      on_timeout: 'capture',
      wait_for_selector: selector,
      selector,
      click_selector: selector,
      scroll_to: selector,
    },
    ...{ hide_selectors: [selector], block_cookies: true, reduced_motion: true, user_agent: 'me' },
    ...{ cache_ttl: 5, response_type: 'json', animations: 'allow', media_type: 'print', locale: 'de' },
    ...{ full_page_mode: 'sections', full_page_width: 'viewport', full_page_max_height: 500, orientation: 'landscape' },
    ...{ resize_mode: 'fit', resize_position: 'top', clip: { x: 0, y: 0, width: 10, height: 10 } },
    ...{ wait_for_selector_hidden: selector, fail_if_selector_missing: selector, fail_if_selector_present: selector },
    ...{ fail_on_status: true, fail_if_text: 'a', block_requests: ['a'], block_resources: ['font'] },
    ...{ pdf_width: '50mm', pdf_height: '50mm', pdf_scale: 2, pdf_background: false, pdf_page_ranges: '1' },
    ...{ pdf_header: 'a', pdf_footer: 'a', pdf_outline: true, delay_ms: 5, block_popups: true, filename: 'a' },
    ...{ actions: [{ type: 'scroll', y: 1 }], renditions: [{ format: 'webp' }], pdf_single_page: true },
    ...{ pdf_css_page_size: true, pdf_fit: 'none' },
  }
  const formats = ['jpeg', 'webp', 'avif'].map((format): [string, string] => ['format', format])
  for (const [name, value] of [...Object.entries(open), ...formats]) {
    const { status, error } = await ask('/screenshots', { url: `${url}held`, [name]: value })
    t.equal(status, 202, `${name} ${JSON.stringify(error)}`)
  }
  const gated = Object.values(gatedUses).flatMap((use) => Object.keys(use))
  // A template belongs to the destination that its request names.
  gated.push('upload_key')
  t.same(
    new Set([...Object.keys(open), ...gated]),
    new Set(Object.keys(captureParameters.properties)),
    'every parameter is open or gated',
  )
})

// Contract: Plan changes
t.test(
  'gateway plans: a plan change applies at once to limits, features and new captures, not to earlier captures',
  async (t) => {
    const { id, newKey, callWith, ask, held, create, retained } = await newAccount('starter')
    const second = await newKey()
    const early = await held()
    await setPlan(database, id, 'pro')
    const richer = await ask('/account')
    t.equal(richer.headers.get('x-ratelimit-limit'), '40')
    t.equal(richer.headers.get('x-usage-limit'), '15000')
    t.not((await ask('/screenshots', { url, css: 'a{}' })).status, 403)
    t.equal(await retained(await create()), 7 * 24)
    await database.query(`update capture set created_at = created_at - interval '1 hour' where id = $1`, [early])
    await advanceCapture(database, early, 'completed')
    t.equal(await retained(early), 48, 'the retention at acceptance, from the completion on')

    await setPlan(database, id, 'free')
    const poorer = await ask('/screenshots', { url, css: 'a{}' })
    t.match(poorer, { status: 403, error: { code: 'FEATURE_NOT_AVAILABLE' } })
    t.equal(poorer.headers.get('x-ratelimit-limit'), '5')
    t.equal((await callWith(second.key, baseUrl)('/account')).status === 401, false, 'a surplus key stays valid')
    t.equal((await ask('/account')).status === 401, false)
    await t.rejects(newKey(), { code: 'VALIDATION_ERROR', publicMessage: /allows 1 API key/ })
    await revokeKey(database, second.id)
    await t.rejects(newKey(), { code: 'VALIDATION_ERROR' })
  },
)

// Contract: Plan changes
t.test('gateway plans: a reservation is settled or released in the period in which it was made', async (t) => {
  const { id, held, charges } = await newAccount('unlimited')
  const captures = [await held(), await held(), await held(), await held()]
  t.same(await charges(), [{ reserved: 4, settled: 0 }])
  for (const table of ['capture', 'usage']) {
    await database.query(`update ${table} set period = period - interval '1 month' where account_id = $1`, [id])
  }
  await held()
  const [done = '', failed = '', unbegun = '', begun = ''] = captures
  await advanceCapture(database, done, 'completed')
  t.same(await charges(), [
    { reserved: 3, settled: 1 },
    { reserved: 1, settled: 0 },
  ])
  await advanceCapture(database, failed, 'failed')
  await advanceCapture(database, begun, 'processing')
  for (const capture of [unbegun, begun]) await deleteCapture(database, { id: capture, accountId: id })
  t.same(await charges(), [
    { reserved: 0, settled: 2 },
    { reserved: 1, settled: 0 },
  ])
})

// Contract: Period
t.test('gateway plans: usage of other months does not count', async (t) => {
  const { id, held, ask } = await newAccount('free')
  await held()
  const used = async () => {
    const { headers, data } = await ask('/account/usage')
    return [data['screenshots_used'], headers.get('x-usage-remaining')]
  }
  t.same(await used(), [1, '199'])
  await database.query(
    `insert into usage (account_id, period, reserved, settled)
     select account_id, (period + n * interval '1 month')::date, 0, 200 from usage, unnest(array[-1, 1]) as n
      where account_id = $1`,
    [id],
  )
  t.same(await used(), [1, '199'])
  await database.query(`update usage set period = period - interval '1 year' where account_id = $1`, [id])
  t.same(await used(), [0, '200'])
})

// Contract: Images of captures with a webhook
t.test('gateway plans: an image is kept as long with a webhook as without', async (t) => {
  const { call, create, retained } = await newAccount('starter')
  const created = await create({ webhook_url: 'https://hooks.example.com/' })
  t.same([await retained(created), await retained(await create())], [48, 48])
  const answer = await call(`/screenshots/${created}/image`)
  t.same([answer.status, Buffer.from(await answer.arrayBuffer())], [200, image])
})

// Contract: After retention
t.test('gateway plans: after its retention the image is 410, and the record is unchanged', async (t) => {
  const { call, create, record, retained, ask } = await newAccount('unlimited')
  const id = await create()
  t.equal(await retained(id), 30 * 24)
  t.equal((await call(`/screenshots/${id}/image`)).status, 200)
  const before = await record(id)
  await database.query(`update capture set expires_at = now() - interval '1 second' where id = $1`, [id])
  const after = await record(id)
  t.same({ ...after, expires_at: '' }, { ...before, expires_at: '' })
  t.equal(after['status'], 'completed')
  t.ok(Date.parse(String(after['expires_at'])) < Date.now())
  t.match(await ask(`/screenshots/${id}/image`), { status: 410, error: { code: 'EXPIRED' } })
  t.match(await ask('/screenshots?status=completed'), { data: [{ id, status: 'completed' }] })
})

// Contract: Minute limit
t.test(
  'gateway plans: keys of an account share its minute; refused requests count, except those from another domain',
  async (t) => {
    await eventually(() => Date.now() % 60_000 < 45_000, { withinMs: 20_000, what: 'a minute that has begun' })
    const { newKey, callWith, call } = await newAccount('starter')
    const other = callWith((await newKey(['example.com'])).key, baseUrl)
    const origin = { origin: 'https://example.com' }
    const left = async (answer: Promise<Response>) => {
      const { status, headers } = await answer
      return [status, Number(headers.get('x-ratelimit-remaining'))]
    }
    t.same(await left(call('/account')), [200, 14])
    t.same(await left(other('/account', undefined, origin)), [200, 13])
    t.same(await left(call(`/screenshots/${randomUUID()}`)), [404, 12])
    t.same(await left(call('/account?a=1')), [422, 11])
    t.same(await left(other('/screenshots', { url, css: 'a{}' }, origin)), [403, 10])
    t.same(await left(other('/account', undefined, { origin: 'https://example.org' })), [403, 10], 'another domain')
    t.same(await left(other('/screenshots', { url }, origin)), [202, 9])
    t.same(await left(call('/screenshots', { url: 1 })), [422, 8])
  },
)

// Contract: Minute limit
t.test('gateway plans: gateways use the minute of the database, regardless of their own clocks', async (t) => {
  await eventually(() => Date.now() % 60_000 < 40_000, { withinMs: 25_000, what: 'a minute that has begun' })
  const { key, callWith } = await newAccount('starter')
  const [early, late] = await Promise.all([gateway.startReplica(-90_000), gateway.startReplica(3_600_000)])
  const [reset] = await database.query<{ unix: number }>(
    `select extract(epoch from date_trunc('minute', clock_timestamp()))::float8 + 60 as unix`,
  )
  for (const [place, base] of [early.baseUrl, late.baseUrl, baseUrl, late.baseUrl].entries()) {
    const { headers } = await callWith(key, base)('/account')
    const values = ['x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) => Number(headers.get(name)))
    t.same(values, [14 - place, reset?.unix])
  }
})

// Contract: Keys at rest
// Contract: Expired keys
t.test('gateway plans: a revoked or expired key is refused at once by every replica', async (t) => {
  const { id, key, keyId, callWith, newKey } = await newAccount('unlimited')
  const replica = await gateway.startReplica()
  const second = await newKey()
  const statuses = (bearer: string) =>
    Promise.all([baseUrl, replica.baseUrl].map(async (base) => (await callWith(bearer, base)('/account')).status))
  // A key is valid until it expires.
  await changeKey(database, second.id, { expiresAt: new Date(Date.now() + 3_600_000) })
  t.same(
    [await statuses(key), await statuses(second.key)],
    [
      [200, 200],
      [200, 200],
    ],
  )
  await revokeKey(database, keyId)
  await changeKey(database, second.id, { expiresAt: new Date(Date.now() - 1) })
  t.same(
    [await statuses(key), await statuses(second.key)],
    [
      [401, 401],
      [401, 401],
    ],
  )
  const refused = await callWith(second.key, replica.baseUrl)('/screenshots', { url })
  t.match(await refused.json(), { error: { code: 'INVALID_API_KEY', status: 401 } })
  t.same(await database.query('select from capture where account_id = $1', [id]), [])
})

import t from 'tap'
import { signLink } from '#gateway/links/links.ts'
import { createAccount, setDisabled } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'
import { namedKey } from '#test/helpers/named-key.ts'

const image = Buffer.from('the bytes of an image')
const [current, previous, gone] = [namedKey('current', 1), namedKey('previous', 2), namedKey('gone', 3)]
const gateway = await startGateway(t, {
  LINK_REQUESTS_BURST: '24',
  LINK_REQUESTS_PER_MINUTE: '1',
  LINK_SIGNING_KEYS: [current, previous]
    .map(({ id, secret }) => `${id}:${secret.export().toString('base64')}`)
    .join(','),
})
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)
const held = Promise.withResolvers<void>()
const fleet = startStandInFleet(gateway, ({ options }) => ({
  image,
  before: async () => (options.url?.endsWith('/held') ? held.promise : undefined),
}))
t.teardown(async () => fleet[Symbol.asyncDispose]())

const newAccount = async (plan: string) => {
  const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan })
  const { key } = await createKey(database, { accountId: id, name: 'key', domains: [], pepper: testPepper })
  const call = (method: string, path: string, body?: unknown) =>
    fetch(baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const create = async (url = 'https://example.com/') => {
    const answer = await call('POST', '/v1/screenshots', { url })
    return ((await answer.json()) as { data: { id: string } }).data.id
  }
  return { id, call, create }
}

const completedOf = async (accountId: string) =>
  (await database.query(`select from capture where status = 'completed' and account_id = $1`, [accountId])).length

type Link = { data: { url: string; expires_at: string | null; expires_in: number } }
const readOutcome = async (answer: Response) => [
  answer.status,
  ((await answer.json()) as { error: { code: string } }).error.code,
]

// Contract: Signed URL response
// Contract: Signed URL form
// Contract: Signed URL request
// Contract: Signed URL errors
t.test('signed links: a link can be created before the image exists; each failure has its own code', async (t) => {
  const { id: accountId, call, create } = await newAccount('pro')
  const id = await create('https://example.com/held')
  const path = `/v1/screenshots/${id}/image`
  const created = async (body?: object) => {
    const answer = await call('POST', `/v1/screenshots/${id}/signed-url`, body)
    return ((await answer.json()) as Link).data
  }
  const before = Math.floor(Date.now() / 1000) + 3600
  const hour = await created()
  const { expires = '', ...rest } = Object.fromEntries(new URL(hour.url).searchParams)
  t.same(hour, {
    url: `${baseUrl}${path}?${signLink(current, id, Number(expires))}`,
    expires_at: new Date(Number(expires) * 1000).toISOString().replace('Z', '000Z'),
    expires_in: 60,
  })
  t.ok(Number(expires) >= before && Number(expires) <= Math.floor(Date.now() / 1000) + 3600)
  t.match(rest, { kid: 'current', signature: /^[0-9a-f]{64}$/ })
  const permanent = await created({ expires_in: 0 })
  t.same(permanent, { url: `${baseUrl}${path}?${signLink(current, id, undefined)}`, expires_at: null, expires_in: 0 })

  const charges = () =>
    database.query(
      'select requests, reserved::integer, settled::integer from account_meter join usage using (account_id) where account_id = $1',
      [accountId],
    )
  const charged = await charges()
  const open = (query: string) => fetch(`${baseUrl}${path}${query}`)
  for (const { url } of [hour, permanent]) t.same(await readOutcome(await fetch(url)), [404, 'NOT_READY'])
  held.resolve()
  await eventually(async () => (await completedOf(accountId)) === 1, { what: 'the image is ready' })
  const settled = await charges()
  t.match(settled, [{ requests: (charged[0] as { requests: number }).requests, reserved: 0, settled: 1 }])
  for (const query of [new URL(hour.url).search, `?${signLink(previous, id, undefined)}`]) {
    const opened = await open(query)
    t.same(
      [opened.status, Buffer.from(await opened.arrayBuffer())],
      [200, image],
      'links of every configured key are accepted',
    )
    t.equal(opened.headers.get('cross-origin-resource-policy'), 'cross-origin', 'pages of other origins may embed it')
  }
  const past = Math.floor(Date.now() / 1000)
  t.same(await readOutcome(await open(`?${signLink(current, id, past)}`)), [403, 'SIGNATURE_EXPIRED'])
  t.same(await readOutcome(await open(`?${signLink(gone, id, undefined)}`)), [403, 'INVALID_SIGNATURE'])
  t.same(await readOutcome(await open('')), [401, 'INVALID_API_KEY'])
  await database.query(`update capture set expires_at = now() - interval '1 second' where id = $1`, [id])
  for (const { url } of [hour, permanent]) t.same(await readOutcome(await fetch(url)), [410, 'EXPIRED'])
  t.same(await charges(), settled, 'links count towards neither quota nor rate limit')
})

// Contract: Signed URL form
// Contract: Signed URL errors
t.test('signed links: a link returns the image without an API key until the screenshot is deleted', async (t) => {
  const { id: accountId, call, create } = await newAccount('pro')
  const other = await newAccount('pro')
  const id = await create()
  const { data } = (await (await call('POST', `/v1/screenshots/${id}/signed-url`)).json()) as Link
  t.ok(data.url.startsWith(`${baseUrl}/v1/screenshots/${id}/image?expires=`), data.url)
  await eventually(async () => (await completedOf(accountId)) === 1, { what: 'the image is ready' })
  const usage = () => database.query('select requests from account_meter where account_id = $1', [accountId])
  const before = await usage()
  const answer = await fetch(data.url)
  t.same([answer.status, Buffer.from(await answer.arrayBuffer())], [200, image])
  t.same(await usage(), before, 'not counted towards the rate limit')
  await setDisabled(database, accountId, true)
  t.same(await readOutcome(await fetch(data.url)), [404, 'NOT_FOUND'], 'images of a disabled account are not served')
  await setDisabled(database, accountId, false)
  t.same(await readOutcome(await fetch(data.url.replace('signature=', 'signature=0'))), [403, 'INVALID_SIGNATURE'])
  t.equal(
    (await other.call('POST', `/v1/screenshots/${id}/signed-url`, {})).status,
    404,
    "not for another account's screenshot",
  )
  t.equal((await other.call('DELETE', `/v1/screenshots/${id}`)).status, 404)

  t.equal((await call('DELETE', `/v1/screenshots/${id}`)).status, 204)
  t.same(await readOutcome(await fetch(data.url)), [404, 'NOT_FOUND'])
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/image'],
    ['POST', '/signed-url'],
    ['DELETE', ''],
  ] as const) {
    t.same(await readOutcome(await call(method, `/v1/screenshots/${id}${path}`)), [404, 'NOT_FOUND'], method + path)
  }
  await eventually(async () => (await fetch(data.url)).status === 429, { what: 'the rate limit per client address' })
})

t.test('signed links: a plan without links gets FEATURE_NOT_AVAILABLE', async (t) => {
  const { call, create } = await newAccount('starter')
  const refused = await call('POST', `/v1/screenshots/${await create()}/signed-url`, { expires_in: 5 })
  t.same(await readOutcome(refused), [403, 'FEATURE_NOT_AVAILABLE'])
})

t.test('signed links: a synchronous capture that is deleted while it waits responds with 404', async (t) => {
  const { id: accountId, call } = await newAccount('unlimited')
  await fleet[Symbol.asyncDispose]()
  const waiting = call('GET', '/v1/screenshots/capture?url=https%3A%2F%2Fexample.com%2F')
  const find = () => database.query<{ id: string }>('select id from capture where account_id = $1', [accountId])
  await eventually(async () => (await find()).length === 1, { what: 'the capture is accepted' })
  const [capture] = await find()
  t.equal((await call('DELETE', `/v1/screenshots/${capture?.id}`)).status, 204)
  t.same(await readOutcome(await waiting), [404, 'NOT_FOUND'])
})

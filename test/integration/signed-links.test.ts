import t from 'tap'
import { createAccount, setDisabled } from '#shared/db/accounts.ts'
import { defaultPlans } from '#shared/db/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const image = Buffer.from('the bytes of an image')
const gateway = await startGateway(t, { LINK_REQUESTS_BURST: '12', LINK_REQUESTS_PER_MINUTE: '1' })
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)
const fleet = startStandInFleet(gateway, () => ({ image }))
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
  const create = async () => {
    const answer = await call('POST', '/v1/screenshots', { url: 'https://example.com/' })
    return ((await answer.json()) as { data: { id: string } }).data.id
  }
  return { id, call, create }
}

type Link = { data: { url: string; expires_at: string | null; expires_in: number } }
const codeOf = async (answer: Response) => [
  answer.status,
  ((await answer.json()) as { error: { code: string } }).error.code,
]

t.test('a link opens the image to anybody, until the screenshot is deleted', async (t) => {
  const { id: accountId, call, create } = await newAccount('pro')
  const other = await newAccount('pro')
  const id = await create()
  const { data } = (await (await call('POST', `/v1/screenshots/${id}/signed-url`)).json()) as Link
  t.ok(data.url.startsWith(`${baseUrl}/v1/screenshots/${id}/image?expires=`), data.url)
  const completed = `select from capture where status = 'completed'`
  await eventually(async () => (await database.query(completed)).length === 1, { what: 'the image is ready' })
  const usage = () => database.query('select requests from account_meter where account_id = $1', [accountId])
  const before = await usage()
  const answer = await fetch(data.url)
  t.same([answer.status, Buffer.from(await answer.arrayBuffer())], [200, image])
  t.same(await usage(), before, 'it counts for no minute')
  await setDisabled(database, accountId, true)
  t.same(await codeOf(await fetch(data.url)), [404, 'NOT_FOUND'], 'nothing of a disabled account is served')
  await setDisabled(database, accountId, false)
  t.same(await codeOf(await fetch(data.url.replace('signature=', 'signature=0'))), [403, 'INVALID_SIGNATURE'])
  t.equal((await other.call('POST', `/v1/screenshots/${id}/signed-url`, {})).status, 404, "not of another's")
  t.equal((await other.call('DELETE', `/v1/screenshots/${id}`)).status, 404)

  t.equal((await call('DELETE', `/v1/screenshots/${id}`)).status, 204)
  t.same(await codeOf(await fetch(data.url)), [404, 'NOT_FOUND'])
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/image'],
    ['POST', '/signed-url'],
    ['DELETE', ''],
  ] as const) {
    t.same(await codeOf(await call(method, `/v1/screenshots/${id}${path}`)), [404, 'NOT_FOUND'], method + path)
  }
  await eventually(async () => (await fetch(data.url)).status === 429, { what: 'one address has its limit' })
})

t.test('links belong to plans that include them', async (t) => {
  const { call, create } = await newAccount('starter')
  const refused = await call('POST', `/v1/screenshots/${await create()}/signed-url`, { expires_in: 5 })
  t.same(await codeOf(refused), [403, 'FEATURE_NOT_AVAILABLE'])
})

t.test('a synchronous capture that is deleted meanwhile is answered with 404', async (t) => {
  const { id: accountId, call } = await newAccount('unlimited')
  await fleet[Symbol.asyncDispose]()
  const waiting = call('GET', '/v1/screenshots/capture?url=https%3A%2F%2Fexample.com%2F')
  const find = () => database.query<{ id: string }>('select id from capture where account_id = $1', [accountId])
  await eventually(async () => (await find()).length === 1, { what: 'it is accepted' })
  const [capture] = await find()
  t.equal((await call('DELETE', `/v1/screenshots/${capture?.id}`)).status, 204)
  t.same(await codeOf(await waiting), [404, 'NOT_FOUND'])
})

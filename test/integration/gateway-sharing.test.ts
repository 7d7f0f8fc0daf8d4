import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { meterDifferences } from '#test/helpers/meter-differences.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { type Behaviour, startStandInFleet } from '#test/helpers/stand-in-fleet.ts'
import { testRecords } from '#test/helpers/record-seal.ts'

const image = Buffer.from('the bytes of an image')
const gateway = await startGateway(t, { PUBLIC_URL: 'https://shots.example' })
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)

const held = Promise.withResolvers<void>()
const heldAgain = Promise.withResolvers<void>()
const pages: Record<string, Behaviour> = {
  'https://example.com/held': { image, before: () => held.promise },
  'https://example.com/held-again': { image, before: () => heldAgain.promise },
  'https://example.com/late': { fails: 'TIMEOUT' },
}
const fleet = startStandInFleet(gateway, ({ options }) => pages[options.url ?? ''] ?? { image })
t.teardown(() => fleet[Symbol.asyncDispose]())
const servedOf = (url: string) => fleet.received.filter(({ part }) => part.options.url === url)

const newAccount = async (plan: string) => {
  const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan })
  const { key } = await createKey(database, { accountId: id, name: 'key', domains: [], pepper: testPepper })
  const authorization = `Bearer ${key}`
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${baseUrl}/v1/screenshots${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization, 'content-type': 'application/json', ...headers },
    })
  const get = (path: string) => fetch(`${baseUrl}/v1/screenshots${path}`, { headers: { authorization } })
  const countCaptures = async () => (await database.query('select from capture where account_id = $1', [id])).length
  return { id, post, get, countCaptures }
}
type Answer = { data: Record<string, unknown> & { screenshots: Record<string, unknown>[] } }
const json = async (answer: Response) => (await answer.json()) as Answer
const bytes = async (answer: Response) => Buffer.from(await answer.arrayBuffer())

// Contract: Idempotency
t.test('gateway sharing: synchronous requests under one key are one capture, and all get its image', async (t) => {
  const { post, get, countCaptures } = await newAccount('unlimited')
  const url = 'https://example.com/held'
  const key = { 'idempotency-key': 'once' }
  const answers = Array.from({ length: 5 }, () => post('/capture', { url }, key))
  await eventually(async () => (await countCaptures()) === 1 && servedOf(url).length === 1)
  held.resolve()
  const all = await Promise.all(answers)
  t.equal(all.filter(({ headers }) => headers.get('idempotent-replayed') === 'true').length, 4)
  t.equal(new Set(all.map(({ headers }) => headers.get('x-screenshot-id'))).size, 1)
  for (const answer of all) t.same([answer.status, await bytes(answer)], [200, image])
  const late = await post('/capture', { url }, key)
  t.same([late.status, await bytes(late), await countCaptures()], [200, image, 1])
  const other = await post('/capture', { url, width: 400 }, key)
  t.match([other.status, await other.json()], [422, { error: { code: 'IDEMPOTENCY_MISMATCH' } }])
  const create = await post('', { url }, key)
  t.equal(create.status, 422, 'the same key on another operation is a mismatch')
  t.equal((await get(`/${late.headers.get('x-screenshot-id')}`)).status, 200)
})

// Contract: Image response
// Contract: Cache key
t.test('gateway sharing: identical captures run once; later ones are hits, even with the quota used up', async (t) => {
  const { id, post, get } = await newAccount('starter')
  const url = 'https://example.com/held-again'
  const answers = Array.from({ length: 6 }, () => post('/capture', { url, cache_ttl: 600 }))
  await eventually(async () => {
    const rows = await database.query('select from capture where account_id = $1', [id])
    return rows.length === 6 && servedOf(url).length === 1
  })
  heldAgain.resolve()
  const all = await Promise.all(answers)
  t.equal(all.filter(({ headers }) => headers.get('x-cache') === 'HIT').length, 5)
  t.equal(new Set(all.map(({ headers }) => headers.get('x-screenshot-id'))).size, 6, 'each has its own record')
  for (const answer of all) t.same([answer.status, await bytes(answer)], [200, image])

  await database.query(`update usage set settled = 1000000 where account_id = $1`, [id])
  await database.query(`update plan set overage_price = null where slug = 'starter'`)
  const refused = await post('', { url: 'https://example.com/other' })
  t.equal(refused.status, 402)
  const hit = await post('', { url, cache_ttl: 600 })
  t.same([hit.status, hit.headers.get('x-cache')], [202, 'HIT'])
  const left = (answer: Response, counter: 'usage' | 'ratelimit') => answer.headers.get(`x-${counter}-remaining`)
  t.equal(left(hit, 'usage'), left(refused, 'usage'), 'it does not count toward the quota')
  const minutes = ['x-ratelimit-reset', 'x-ratelimit-limit'].map((name) => hit.headers.get(name))
  if (minutes[0] === refused.headers.get('x-ratelimit-reset'))
    t.equal(Number(left(hit, 'ratelimit')), Number(left(refused, 'ratelimit')) - 1, 'it counts toward the minute limit')
  else t.equal(Number(left(hit, 'ratelimit')), Number(minutes[1]) - 1, 'the first request of a new minute')
  const { data } = await json(hit)
  t.match(data, { status: 'pending', url })
  const record = await json(await get(`/${String(data['id'])}`))
  t.match(record.data, { status: 'completed', cached: true, file_size: image.length, options: { cache_ttl: 600 } })
  const download = await get(`/${String(data['id'])}/image`)
  t.same([download.headers.get('x-cache'), await bytes(download)], ['HIT', image])
  t.equal(servedOf(url).length, 1)
  t.equal(servedOf(url)[0]?.part.options.webhook_url, undefined)
})

t.test('gateway sharing: a batch runs, and its record shows the progress', async (t) => {
  const { post, get } = await newAccount('unlimited')
  const urls = ['a', 'late', 'a'].map((page) => `https://example.com/${page}`)
  const { data } = await json(await post('/batch', { urls, width: 400, webhook_url: 'https://a.example.com/?s3cr3t' }))
  t.match(data, { status: 'pending', total: 3, pending: 3, screenshots: urls.map((url, index) => ({ index, url })) })
  const batch = () => get(`/batch/${String(data['id'])}`).then(json)
  await eventually(async () => (await batch()).data['status'] === 'completed')
  const done = (await batch()).data
  t.match(done, { total: 3, pending: 0, processing: 0, completed: 2, failed: 1 })
  t.same(
    done.screenshots.map(({ id, status, created_at: at }) => [id, status, at]),
    data.screenshots.map(({ id, created_at: at }, index) => [id, index === 1 ? 'failed' : 'completed', at]),
  )
  const member = await get(`/${String(done.screenshots[0]?.['id'])}`)
  t.match(await json(member), { data: { batch_id: data['id'], status: 'completed' } })
  const ofBatch = fleet.received.filter(({ id }) => data.screenshots.some((each) => each['id'] === id))
  t.same(new Set(ofBatch.map(({ lane, part }) => [lane, part.options.webhook_url].join())), new Set(['bulk,']))
  t.notMatch(JSON.stringify(done), 's3cr3t')
  const other = await newAccount('unlimited')
  t.equal((await other.get(`/batch/${String(data['id'])}`)).status, 404)
  const free = await newAccount('free')
  t.equal((await free.post('/batch', { urls })).status, 403)
})

// Contract: Secrets in `options`
t.test('gateway sharing: a webhook URL is stored sealed for delivery and masked in the options', async (t) => {
  const { id, get, post } = await newAccount('unlimited')
  const webhook = 'https://a.example.com/in?token=s3cr3t'
  const answer = await post('/capture', { url: 'https://example.com/ok', webhook_url: webhook })
  t.match([answer.status, await answer.json()], [202, { status: 'pending', webhook_url: webhook }])
  const rows = await database.query<{ url: string }>('select webhook_url as url from capture where account_id = $1', [
    id,
  ])
  t.match(
    rows.map(({ url }) => testRecords.openUrl(url)),
    [webhook],
  )
  const [shown] = ((await (await get('')).json()) as { data: object[] }).data
  t.match(shown, { options: { webhook_url: 'https://a.example.com/in?***' } })
})

t.test('gateway sharing: at the end every meter equals its rows', async (t) => {
  const running = `select id from capture where status not in ('completed', 'failed')`
  await eventually(async () => (await database.query(running)).length === 0)
  await database.query(
    // A test above set the settled usage by hand.
    'update usage u set settled = (select count(*) from capture c where c.account_id = u.account_id and charge = $1)',
    ['settled'],
  )
  t.same(await database.query(meterDifferences), [])
})

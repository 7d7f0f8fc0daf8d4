import { randomUUID } from 'node:crypto'
import t from 'tap'
import { defaultPlans } from '#local/default-plans.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { openedMax } from '#gateway/db/search-captures.ts'
import { testRecords } from '#test/helpers/record-seal.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { storeCaptures } from '#test/helpers/stored-captures.ts'

const { database, baseUrl } = await startGateway(t)
await replacePlans(database, defaultPlans)

type Listed = {
  data: { id: string; url: string }[]
  links: Record<string, string | null>
  meta: { next_cursor: string | null; total: number; total_estimated?: true }
}

const { id: accountId } = await createAccount(database, { name: 'Test', email: 't@example.com', plan: 'unlimited' })
const keyOf = (name: string) => createKey(database, { accountId, name, domains: [], pepper: testPepper })
const [one, other] = [await keyOf('one'), await keyOf('other')]

type Call = Omit<RequestInit, 'headers'> & { key?: string; headers?: Readonly<Record<string, string>> }

const call = (path: string, { key = one.key, headers, ...request }: Call = {}) =>
  fetch(baseUrl + path, {
    ...request,
    headers: { ...headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })
const list = async (query: Record<string, string>) =>
  (await (await call(`/v1/screenshots?${new URLSearchParams(query).toString()}`)).json()) as Listed
const found = async (query: Record<string, string>) => (await list(query)).data.map(({ id }) => id)

const create = async (body: object, { key = one.key, requestId }: { key?: string; requestId?: string } = {}) => {
  const answer = await call('/v1/screenshots', {
    method: 'POST',
    body: JSON.stringify(body),
    key,
    headers: { 'x-request-id': requestId ?? randomUUID() },
  })
  return ((await answer.json()) as { data: { id: string } }).data.id
}

t.test('search: each filter finds the captures that were requested so, and no others', async (t) => {
  const shop = await create({ url: 'https://shop.example/cart?item=1' }, { requestId: 'request-of-shop' })
  const port = await create({ url: 'https://shop.example:8443/' })
  const pdf = await create({ url: 'http://docs.example/page', format: 'pdf' }, { key: other.key })
  t.same(await found({ host: 'shop.example' }), [shop])
  t.same(await found({ host: 'SHOP.example:8443' }), [port], 'a port that is not the default is part of the host')
  t.same(await found({ format: 'pdf' }), [pdf])
  t.same(await found({ key_id: other.id }), [pdf])
  t.same(await found({ request_id: 'request-of-shop' }), [shop])
  t.same(await found({ key_id: one.id, host: 'shop.example', status: 'pending' }), [shop], 'filters are combined')
  t.same(await found({ url: 'https://shop.example/ca' }), [shop])
  t.same(await found({ url: 'https://shop.example' }), [shop])
  t.same(await found({ url: 'https://shop.example/other' }), [])
  t.same(await found({ url: 'https://shop.exam' }), [], 'the host is whole')
  await database.query(
    `update capture set part = 'ended', status = 'completed', target_status = 404, completed_at = now(), file_size = 1,
       mime_type = 'image/png', width = 1, height = 1, processing_time_ms = 1 where id = $1`,
    [shop],
  )
  await database.query(
    `update capture set part = 'ended', status = 'failed', error_code = 'TIMEOUT', completed_at = now() where id = $1`,
    [port],
  )
  t.same(await found({ target_status: '404' }), [shop])
  t.same(await found({ error_code: 'TIMEOUT' }), [port])
})

t.test('search: a batch is found by the request and the key that started it', async (t) => {
  const body = JSON.stringify({ urls: ['https://batch.example/1', 'https://batch.example/2'] })
  await call('/v1/screenshots/batch', { method: 'POST', body, headers: { 'x-request-id': 'request-of-batch' } })
  t.equal((await found({ request_id: 'request-of-batch' })).length, 2)
  t.equal((await found({ host: 'batch.example', key_id: one.id })).length, 2)
})

t.test('search: pages are linked in both directions and keep the filters', async (t) => {
  const ids = await storeCaptures(database, { accountId, count: 5, createdAt: '2026-02-01T00:00:00Z' })
  const first = await list({ host: 'example.com', per_page: '2' })
  t.same([first.data.map(({ id }) => id), first.meta.total], [ids.toReversed().slice(0, 2), 5])
  const second = await list({ host: 'example.com', per_page: '2', cursor: first.meta.next_cursor ?? '' })
  t.same(
    second.data.map(({ id }) => id),
    ids.toReversed().slice(2, 4),
  )
  const back = new URL(second.links['prev'] ?? '')
  t.equal(back.searchParams.get('host'), 'example.com')
  t.same(await found(Object.fromEntries(back.searchParams)), ids.toReversed().slice(0, 2))
})

t.test('search: a path is looked for among a bounded number of captures, and then after them', async (t) => {
  const ids = await storeCaptures(database, { accountId, count: openedMax + 1, createdAt: '2026-01-01T00:00:00Z' })
  const [id = ''] = ids
  const { url, options } = testRecords.seal({
    id,
    url: 'https://example.com/shop?item=1',
    options: { width: 1, height: 1, format: 'png' },
  })
  await database.query('update capture set url = $2 where id = any ($1)', [ids, url])
  await database.query('update capture set options = $2 where id = $1', [id, JSON.stringify(options)])
  const first = await list({ url: 'https://example.com/shop', to: '2026-01-02' })
  t.match(first, { data: [], meta: { total_estimated: true } })
  t.ok(first.meta.next_cursor, 'though it is empty, there is a next page')
  const next = await list({ url: 'https://example.com/shop', to: '2026-01-02', cursor: first.meta.next_cursor ?? '' })
  t.same([next.data.map((each) => each.id), next.meta.next_cursor], [[id], null])
})

t.test('search: an invalid filter is named with what is valid', async (t) => {
  const errors = async (query: string) =>
    ((await (await call(`/v1/screenshots?${query}`)).json()) as { error: { details: object } }).error.details
  t.match(await errors('host=a/b&key_id=1&error_code=NO&format=gif&target_status=99'), {
    host: [/must be a host/],
    key_id: [/id of a key/],
    error_code: [/TIMEOUT/],
    format: [/png/],
    target_status: [/100/],
  })
  t.match(await errors('url=example.com&page=2'), { url: [/scheme and host/], page: [/use cursor/] })
})

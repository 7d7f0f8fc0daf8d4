import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { advanceCapture } from '#test/helpers/advance-capture.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const { database, baseUrl } = await startGateway(t)
const [, starter] = defaultPlans
const perMinute = 1000
const few = { ...starter!, rate_limit_per_minute: perMinute, screenshots_per_month: 5, overage_price: null }
await replacePlans(database, [...defaultPlans, { ...few, slug: 'few' }, { ...few, slug: 'more', overage_price: '0.5' }])

const newAccount = async (plan: string) => {
  const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan })
  const { key } = await createKey(database, { accountId: id, name: 'key', domains: [], pepper: testPepper })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const send = (path: string, init: RequestInit = {}) => fetch(`${baseUrl}/v1/screenshots${path}`, { ...init, headers })
  const get = async <Body = Answer>(path: string) => (await (await send(path)).json()) as Body
  const post = async (body: object) => {
    const answer = await send('/batch', { method: 'POST', body: JSON.stringify(body) })
    const left = ['x-ratelimit-remaining', 'x-usage-remaining', 'x-usage-overage']
    return {
      status: answer.status,
      left: left.map((name) => answer.headers.get(name)),
      ...((await answer.json()) as Answer),
    }
  }
  const rows = async () => {
    const counts = ['capture', 'outbox', 'batch'].map(
      async (table) => (await database.query(`select from ${table} where account_id = $1`, [id])).length,
    )
    return await Promise.all(counts)
  }
  return { id, get, post, rows }
}
type Member = { index: number; id: string; status: string; url: string; options: object; created_at: string }
type Answer = {
  data: Record<string, unknown> & { id: string; screenshots: Member[] }
  error: { code: string; details: object }
}

const urlsOf = (count: number) => Array.from({ length: count }, (_, n) => `https://example.com/${count - n}`)

/** Waits for the first 45 seconds of a minute, so that the requests of a test are counted in one minute. */
const awayFromMinuteEnd = () =>
  eventually(() => Date.now() % 60_000 < 45_000, { withinMs: 20_000, what: 'a minute that has begun' })

// Contract: Batch request
t.test('gateway batches: a batch is one request and one capture per URL, or is refused as a whole', async (t) => {
  await awayFromMinuteEnd()
  const { get, post, rows } = await newAccount('few')
  const wrong = await post({ urls: [...urlsOf(3), 'http://10.0.0.1/'], width: 400 })
  t.match(wrong, { status: 422, left: [String(perMinute - 1), '5'], error: { code: 'VALIDATION_ERROR' } })
  t.same(Object.keys(wrong.error.details), ['urls.3'])
  t.same(await rows(), [0, 0, 0])
  t.match(await post({ urls: urlsOf(3), options: { width: 400 } }), {
    status: 422,
    error: { details: { options: [] } },
  })

  const created = await post({ urls: urlsOf(3), width: 400, full_page: true, format: 'jpeg' })
  t.match(created, { status: 202, left: [String(perMinute - 3), '2', null] })
  for (const { id, url } of created.data.screenshots) {
    const { data } = await get(`/${id}`)
    t.match(data, { url, batch_id: created.data.id, options: { width: 400, full_page: true, format: 'jpeg' } })
  }
  t.match(await post({ urls: urlsOf(3) }), {
    status: 402,
    left: [String(perMinute - 7), '2'],
    error: { code: 'USAGE_LIMIT_EXCEEDED' },
  })
  t.same((await rows())[0], 3, 'no capture of the refused batch is queued')
  t.same((await rows())[2], 1)
  t.match(await post({ urls: urlsOf(2) }), { status: 202, left: [String(perMinute - 8), '0'] }, 'all that is left')

  const beyond = await newAccount('more')
  t.match(await beyond.post({ urls: urlsOf(7) }), { status: 202, left: [String(perMinute - 1), '0', '2'] })
})

// Contract: Batch source
t.test('gateway batches: a batch has urls and no other source', async (t) => {
  const { post, rows } = await newAccount('unlimited')
  const urls = urlsOf(2)
  for (const [name, value] of Object.entries({ url: urls[0], html: '<p>a</p>', markdown: '# a' })) {
    const beside = await post({ urls, [name]: value })
    t.same([beside.status, Object.keys(beside.error.details)], [422, [name]])
    const alone = await post({ [name]: value })
    t.same([alone.status, Object.keys(alone.error.details).toSorted()], [422, [name, 'urls'].toSorted()])
  }
  t.same(await rows(), [0, 0, 0])
})

// Contract: Batch response
t.test('gateway batches: a batch is returned in input order, and GET returns the same', async (t) => {
  const { get, post } = await newAccount('unlimited')
  const urls = [...urlsOf(3), urlsOf(3)[0]]
  const { status, data } = await post({ urls, width: 400 })
  const { id, created_at: createdAt, screenshots } = data
  const options = { width: 400, height: 800, format: 'png' }
  t.equal(status, 202)
  t.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  t.same(data, {
    id,
    status: 'pending',
    ...{ total: 4, pending: 4, processing: 0, completed: 0, failed: 0 },
    created_at: createdAt,
    screenshots: urls.map((url, index) => ({
      ...{ index, id: screenshots[index]?.id, status: 'pending', url, options, created_at: createdAt },
    })),
  })
  t.same((await get(`/batch/${id}`)).data, data)
  const other = await newAccount('unlimited')
  for (const path of [`/batch/${id}`, `/batch/${randomUUID()}`]) {
    t.match(await other.get(path), { error: { code: 'NOT_FOUND' } })
  }
})

// Contract: Batch status
t.test('gateway batches: a batch is pending until a capture starts, and completed once all have ended', async (t) => {
  const { get, post } = await newAccount('unlimited')
  const { data } = await post({ urls: urlsOf(3) })
  const [first = '', second = '', third = ''] = data.screenshots.map(({ id }) => id)
  const after = async (id: string, to: 'processing' | 'completed' | 'failed') => {
    await advanceCapture(database, id, to)
    const found = (await get(`/batch/${data.id}`)).data
    const counts = ['pending', 'processing', 'completed', 'failed'].map((name) => found[name])
    return [found['status'], ...counts, found.screenshots.map(({ status }) => status).join(' ')]
  }
  t.same(await after(first, 'processing'), ['processing', 2, 1, 0, 0, 'processing pending pending'])
  t.same(await after(first, 'completed'), ['processing', 2, 0, 1, 0, 'completed pending pending'])
  t.same(await after(third, 'failed'), ['processing', 1, 0, 1, 1, 'completed pending failed'])
  t.same(await after(second, 'failed'), ['completed', 0, 0, 1, 2, 'completed failed failed'])
})

t.test('batches: all of an account are listed, newest first, with their states and in pages', async (t) => {
  const [{ id: accountId, post, get }, other] = [await newAccount('unlimited'), await newAccount('unlimited')]
  await other.post({ urls: ['https://example.com/'] })
  const ids: string[] = []
  for (const count of [1, 2, 3]) {
    const urls = Array.from({ length: count }, (_, index) => `https://example.com/${index}`)
    ids.unshift((await post({ urls })).data.id)
  }
  await database.query('update batch set completed = total - 1, failed = 1 where id = $1', [ids[0]])
  await database.query('update batch set processing = 1 where id = $1', [ids[1]])
  type List = { data: { id: string; status: string; failed: number }[]; meta: { next_cursor: string | null } }
  const list = (query: string) => get<List>(`/batch?${query}`)
  const first = await list('per_page=2')
  t.match(first.data, [
    { id: ids[0], status: 'completed', total: 3, failed: 1 },
    { id: ids[1], status: 'processing', total: 2, pending: 1 },
  ])
  const second = await list(`per_page=2&cursor=${first.meta.next_cursor}`)
  t.match(second, { data: [{ id: ids[2], status: 'pending', total: 1 }], meta: { next_cursor: null } })
  t.equal(second.data.length, 1, 'none of another account')
  for (const [index, status] of ['completed', 'processing', 'pending'].entries())
    t.same(
      (await list(`status=${status}`)).data.map(({ id }) => id),
      [ids[index]],
      `${status} of ${accountId}`,
    )
})

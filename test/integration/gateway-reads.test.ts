import t from 'tap'
import { createAccount, setPlan } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { storeCaptures } from '#test/helpers/stored-captures.ts'

const publicUrl = 'https://shots.example'
const { database, baseUrl } = await startGateway(t, { PUBLIC_URL: publicUrl })
await replacePlans(database, defaultPlans)

type Links = Record<'first' | 'last' | 'prev' | 'next', string | null>
type Listed = {
  data: { id: string; status: string; created_at: string }[]
  links: Links
  meta: Record<string, unknown>
}

const newAccount = async (plan = 'unlimited') => {
  const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan })
  const { key } = await createKey(database, { accountId: id, name: 'key', domains: [], pepper: testPepper })
  const call = (path: string) => fetch(baseUrl + path, { headers: { authorization: `Bearer ${key}` } })
  const list = async (query = ''): Promise<Listed> => {
    const answer = await call(`/v1/screenshots${query}`)
    if (answer.status !== 200) throw new Error(await answer.text())
    return (await answer.json()) as Listed
  }
  /** Follows a link as a client of the public address does. */
  const follow = (link: string) => list(link.slice(`${publicUrl}/v1/screenshots`.length))
  return { id, call, list, follow }
}
const listIds = ({ data }: Listed) => data.map(({ id }) => id)
const nextOf = (page: Listed | undefined) => page?.meta['next_cursor'] as string | null | undefined
const walkMax = 100

type Follow = (link: string) => Promise<Listed>
/** This page and all pages that follow by the given link, in that order. */
const walk = async (first: Listed, follow: Follow, by: 'prev' | 'next'): Promise<Listed[]> => {
  const walked = [first]
  for (let link = first.links[by]; link && walked.length < walkMax; link = walked.at(-1)?.links[by] ?? null) {
    walked.push(await follow(link))
  }
  return walked
}

// Contract: List parameters
t.test('gateway reads: captures can be listed by status, newest first, with an exact total', async (t) => {
  const { id: accountId, list } = await newAccount()
  const stored: Record<string, string[]> = {}
  for (const [status, count] of Object.entries({ pending: 2, processing: 3, completed: 30, failed: 4 })) {
    const options = { accountId, count, status: status as 'pending', createdAt: `2026-03-0${count % 7}T00:00:00Z` }
    stored[status] = (await storeCaptures(database, options)).toReversed()
  }
  for (const [status, ids] of Object.entries(stored)) {
    const page = await list(`?status=${status}`)
    t.same(listIds(page), ids.slice(0, 20), status)
    t.equal(page.meta['total'], ids.length, status)
    t.ok(
      page.data.every((record) => record.status === status),
      status,
    )
  }
  const all = await list('?per_page=100')
  t.same(new Set(listIds(all)), new Set(Object.values(stored).flat()))
  const times = all.data.map((record) => record.created_at)
  t.same(times, times.toSorted().toReversed())
  t.match(
    all.data.find(({ status }) => status === 'failed'),
    { error: { code: 'TIMEOUT', message: 'late' } },
  )
})

// Contract: List parameters
t.test(
  'gateway reads: both ends of a time range are inclusive to the microsecond, and a date is the whole UTC day',
  async (t) => {
    const { id: accountId, list } = await newAccount()
    const moments = [
      '2026-01-31T23:59:59.999999Z',
      '2026-02-01T00:00:00.000000Z',
      '2026-02-01T12:00:00.000001Z',
      '2026-02-01T23:59:59.999999Z',
      '2026-02-02T00:00:00.000000Z',
    ]
    for (const createdAt of moments) await storeCaptures(database, { accountId, count: 1, createdAt })
    const between = async (query: string) => {
      const page = await list(query)
      const indexes = page.data.map((record) => moments.indexOf(record.created_at)).toReversed()
      t.equal(page.meta['total'], indexes.length, query)
      return indexes
    }
    t.same(await between('?from=2026-02-01&to=2026-02-01'), [1, 2, 3])
    t.same(await between('?to=2026-01-31'), [0])
    t.same(await between('?from=2026-02-02'), [4])
    t.same(await between(`?from=${moments[2]}&to=${moments[2]}`), [2])
    t.same(await between('?from=2026-02-01T12:00:00.000002Z&to=2026-02-02T00:00:00Z'), [3, 4])
    t.same(await between('?from=2026-02-01T01:00:00%2B01:00&to=2026-02-01T12:00:00Z'), [1])
    t.same(await between('?from=2026-02-01&status=failed'), [])
  },
)

// Contract: List parameters
// Contract: List shape
t.test('gateway reads: numbered pages contain every capture once, and end', async (t) => {
  const { id: accountId, list, follow } = await newAccount()
  const ids = (await storeCaptures(database, { accountId, count: 250 })).toReversed()
  const pages = await walk(await list('?per_page=40'), follow, 'next')
  t.same(pages.flatMap(listIds), ids)
  t.same(
    pages.map(({ meta }) => [meta['current_page'], meta['from'], meta['to'], meta['last_page'], meta['total']]),
    [0, 1, 2, 3, 4, 5, 6].map((place) => [place + 1, place * 40 + 1, Math.min(250, place * 40 + 40), 7, 250]),
  )
  t.equal(pages[0]?.links.prev, null)
  t.equal(pages.at(-1)?.meta['next_cursor'], null)
  t.same(listIds(await follow(pages[3]?.links.prev ?? '')), pages[2] && listIds(pages[2]))
  t.same(listIds(await follow(pages[0]?.links.last ?? '')), ids.slice(240))
  const beyond = await list('?page=8&per_page=40')
  t.match(beyond, { data: [], links: { next: null, prev: `${publicUrl}/v1/screenshots?per_page=40&page=7` } })
})

// Contract: List parameters
t.test('gateway reads: paging by cursor neither loses nor repeats captures while others are accepted', async (t) => {
  const { id: accountId, list, follow } = await newAccount()
  // Captures with the same time are ordered by id.
  const some = await storeCaptures(database, { accountId, count: 125, every: '0 seconds' })
  const more = await storeCaptures(database, { accountId, count: 125, createdAt: '2026-01-02T00:00:00Z' })
  const newest = { accountId, count: 7, createdAt: '2026-02-01T00:00:00Z' }
  const walked = [await list('?per_page=20')]
  for (let cursor = nextOf(walked[0]); cursor && walked.length < walkMax; cursor = nextOf(walked.at(-1))) {
    await storeCaptures(database, newest)
    walked.push(await list(`?per_page=20&cursor=${cursor}`))
  }
  const ids = walked.flatMap(listIds)
  t.same(ids, [...some, ...more].toReversed())
  t.equal(walked.at(-1)?.links.next, null)

  const back = await walk(walked.at(-1)!, follow, 'prev')
  const all = back.toReversed().flatMap(listIds)
  t.same(all.slice(-250), ids, 'the same in reverse')
  t.equal(all.length, 250 + 7 * (walked.length - 1), 'plus the captures accepted meanwhile')
  t.equal(new Set(all).size, all.length)
  t.equal(all[0], listIds(await list())[0])
})

t.test('gateway reads: a cursor stays valid if the captures around it are deleted', async (t) => {
  const { id: accountId, list } = await newAccount()
  const ids = (await storeCaptures(database, { accountId, count: 6, status: 'failed' })).toReversed()
  const { meta } = await list('?per_page=2&status=failed')
  await database.query('delete from capture where id = any ($1)', [ids.slice(0, 3)])
  const after = await list(`?per_page=2&status=failed&cursor=${String(meta['next_cursor'])}`)
  t.same(listIds(after), ids.slice(3, 5))
  t.equal(after.links.prev, null, 'no captures are left before it')
})

t.test('gateway reads: an account lists only its own captures, even with a cursor of another account', async (t) => {
  const [owner, other] = [await newAccount(), await newAccount()]
  await storeCaptures(database, { accountId: owner.id, count: 30 })
  const [own] = await storeCaptures(database, { accountId: other.id, count: 1, createdAt: '2025-01-01T00:00:00Z' })
  const { meta } = await owner.list()
  t.same(listIds(await other.list()), [own])
  const page = await other.list(`?cursor=${String(meta['next_cursor'])}`)
  t.same([listIds(page), page.meta['total'], page.links.prev], [[own], 1, null])
})

// Contract: List totals
t.test('gateway reads: totals are exact up to 10,000 matches, and come from the daily counts above that', async (t) => {
  const { id: accountId, call, list, follow } = await newAccount()
  const store = (count: number, createdAt: string, more = {}) =>
    storeCaptures(database, { accountId, count, createdAt, every: '0 seconds', ...more })
  await store(6000, '2026-01-01T12:00:00Z')
  await store(4000, '2026-01-02T12:00:00Z')
  const exact = await list('?per_page=100')
  t.match(exact.meta, { total: 10_000, last_page: 100 })
  t.notOk('total_estimated' in exact.meta)
  await store(500, '2026-01-02T13:00:00Z', { status: 'failed' })
  const estimated = await list('?per_page=100')
  t.match(estimated.meta, { total: 10_500, total_estimated: true, last_page: 105 })
  t.equal(estimated.links.last, null, 'no numbered page reaches the last one')
  t.match((await list('?status=completed')).meta, { total: 10_000 })
  t.match((await list('?status=failed')).meta, { total: 500 })
  t.match((await list('?from=2026-01-02')).meta, { total: 4500 })
  t.match((await list('?from=2026-01-01T12:00:00Z&to=2026-01-02')).meta, { total: 10_500, total_estimated: true })
  t.match((await list('?to=2026-01-02T12:30:00Z')).meta, { total: 10_000 }, 'partial days are counted by row')

  t.equal((await call('/v1/screenshots?page=101&per_page=100')).status, 422)
  const last = await list('?page=100&per_page=100')
  t.equal(last.meta['to'], 10_000)
  const further = await follow(last.links.next ?? '')
  t.equal(further.data.length, 100, 'the cursor continues after the last numbered page')
  t.notOk(listIds(further).some((id) => listIds(last).includes(id)))
})

t.test('gateway reads: lists carry the limits of the account', async (t) => {
  const { call } = await newAccount('free')
  for (const [path, status] of [
    ['/v1/screenshots', 200],
    ['/v1/screenshots?page=0', 422],
    ['/v1/account', 200],
    ['/v1/account/usage', 200],
  ] as const) {
    const answer = await call(path)
    await answer.body?.cancel()
    t.equal(answer.status, status)
    t.match(answer.headers.get('x-ratelimit-remaining'), /^[0-4]$/)
    t.same([answer.headers.get('x-usage-limit'), answer.headers.get('x-usage-remaining')], ['200', '200'])
  }
})

// Contract: Usage
// Contract: Period
t.test('gateway reads: usage equals the headers, and overage costs exactly its price', async (t) => {
  const { id, call } = await newAccount('pro')
  const fresh = await call('/v1/account/usage')
  const { data } = (await fresh.json()) as { data: Record<string, unknown> }
  const month = new Date(String(data['period_start']))
  t.match(data, {
    screenshots_used: 0,
    screenshots_limit: 15_000,
    screenshots_remaining: 15_000,
    usage_percentage: 0,
    period_start: /^\d{4}-\d\d-01T00:00:00\.000000Z$/,
    period_end: fresh.headers.get('x-usage-reset'),
    overage: 0,
    overage_cost: '0.000',
  })
  t.equal(Date.parse(String(data['period_end'])), month.setUTCMonth(month.getUTCMonth() + 1), 'a calendar month')

  await database.query(`insert into usage values ($1, $2::timestamptz at time zone 'utc', 2, 15001)`, [
    id,
    data['period_start'],
  ])
  const used = await call('/v1/account/usage')
  t.match(await used.json(), {
    data: {
      screenshots_used: 15_003,
      screenshots_remaining: 0,
      usage_percentage: 100.02,
      overage: 3,
      overage_cost: '0.018',
    },
  })
  t.same([used.headers.get('x-usage-remaining'), used.headers.get('x-usage-overage')], ['0', '3'])
})

// Contract: Account
// Contract: Plan changes
t.test('gateway reads: GET /account returns the plan in force, at once after a change', async (t) => {
  const { id, call } = await newAccount('free')
  const plan = async () => ((await (await call('/api/v1/account')).json()) as { data: { plan: object } }).data.plan
  t.same(await plan(), {
    name: 'Free',
    slug: 'free',
    screenshots_per_month: 200,
    rate_limit_per_minute: 5,
    retention_hours: 24,
    features: [],
    overage_price: null,
    max_api_keys: 1,
    price_monthly: '0',
    price_yearly: '0',
    currency: 'USD',
  })
  await setPlan(database, id, 'starter')
  t.match(await plan(), { slug: 'starter', retention_hours: 48, overage_price: '0.009', price_yearly: '90' })
  await setPlan(database, id, 'unlimited')
  t.match(await plan(), { screenshots_per_month: null, max_api_keys: null, price_monthly: null, price_yearly: null })
})

// Contract: Account
// Contract: Plans
t.test('gateway reads: GET /account returns the prices, limits and features of every plan', async (t) => {
  for (const [slug, monthly, yearly, hours, keys] of [
    ['starter', '9', '90', 48, 2],
    ['pro', '29', '290', 168, 5],
    ['growth', '79', '790', 720, 10],
    ['business', '119', '1190', 720, 10],
  ] as const) {
    const { call } = await newAccount(slug)
    const { data } = (await (await call('/v1/account')).json()) as { data: { plan: Record<string, unknown> } }
    const entry = defaultPlans.find((plan) => plan.slug === slug)
    t.match(data.plan, { price_monthly: monthly, price_yearly: yearly, retention_hours: hours, max_api_keys: keys })
    t.same(data.plan['features'], entry?.features)
    t.equal(data.plan['screenshots_per_month'], entry?.screenshots_per_month)
  }
})

import t from 'tap'
import { createApp } from '#gateway/app.ts'
import {
  completedCapture,
  createTestContext,
  pendingCapture,
  testCaller,
  testKey,
} from '#test/helpers/gateway-context.ts'
import { type Cursor, readCursor, writeCursor } from '#gateway/http/cursor.ts'
import { checkList, listParameters, pageBody, toListQuery } from '#gateway/operations/captures/list.ts'
import { createQueryReader } from '#gateway/http/input.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import { testRecords } from '#test/helpers/record-seal.ts'

const context = createTestContext()
const app = createApp(context)
t.teardown(() => app.close())
const queries: (readonly unknown[])[] = []
/** More than a page. */
const rows = [completedCapture, ...Array.from({ length: 100 }, () => pendingCapture)]
context.answers.list = (parameters) => {
  queries.push(parameters)
  return rows
}
const get = (path: string) => app.inject({ url: path, headers: { authorization: `Bearer ${testKey}` } })

// Contract: List shape
t.test('list: returns full records, equal to those of the status', async (t) => {
  const { data } = (await get('/v1/screenshots')).json<{ data: Record<string, unknown>[] }>()
  const status = (await get(`/v1/screenshots/${completedCapture.id}`)).json<{ data: Record<string, unknown> }>()
  t.same(data[0], status.data)
  t.match(data[1], { id: pendingCapture.id, status: 'pending' })
  const [first] = queries
  t.same([first?.[0], first?.[9]], [testCaller.accountId, 21], 'one more than the page')
})

t.test("list: links have the public address, not the caller's Host", async (t) => {
  const answer = await app.inject({
    url: '/api/v1/screenshots?per_page=2',
    headers: { authorization: `Bearer ${testKey}`, host: 'evil.example', 'x-forwarded-host': 'evil.example' },
  })
  t.notMatch(answer.body, 'evil.example')
  t.match(answer.json(), { links: { next: 'https://shots.example/v1/screenshots?per_page=2&page=2' } })
})

t.test('list: a page number skips, a cursor continues after its capture', async (t) => {
  const { meta } = (await get('/v1/screenshots?page=3&per_page=7')).json<{ meta: { next_cursor: string } }>()
  t.same(queries.at(-1)?.slice(8, 10), [14, 8])
  await get(`/v1/screenshots?cursor=${meta.next_cursor}&status=failed`)
  const { id, createdAt } = pendingCapture
  t.same(queries.at(-1)?.slice(5, 10), [createdAt, id, false, 0, 21])
})

t.test('list: an invalid parameter is a 422 with rate headers, without a query of the list', async (t) => {
  const before = queries.length
  const answer = await get('/v1/screenshots?page=0&pgae=1')
  t.match([answer.statusCode, answer.json()], [422, { error: { details: { page: [/whole/], pgae: [/parameter/] } } }])
  t.match(answer.headers, { 'x-ratelimit-limit': '40' })
  t.equal(queries.length, before)
})

const idAt = (place: number) => `22222222-2222-4222-8222-${String(place).padStart(12, '0')}`
type Page = Parameters<typeof pageBody>[1]
const createPage = (length: number, more: Partial<Page>): Page => ({
  captures: Array.from({ length }, (_, place) => ({ ...testRecords.openCapture(pendingCapture), id: idAt(place) })),
  hasOlder: false,
  hasNewer: false,
  total: length,
  totalIsEstimated: false,
  ...more,
})

const path = 'https://shots.example/v1/screenshots'
const read = createQueryReader(listParameters, checkList)
const listBody = (query: string, page: Page) =>
  pageBody(toListQuery(read(query, { allowTargets: [] })), page, 'https://shots.example')
const cursorIn = (link: string | null | undefined) => readCursor(new URL(link ?? '').searchParams.get('cursor') ?? '')
const from = (direction: Cursor['direction'], place: number) => ({
  direction,
  position: { createdAt: pendingCapture.createdAt, id: idAt(place) },
})
const cursor = String(listBody('', createPage(1, { hasOlder: true })).meta['next_cursor'])

// Contract: List shape
t.test('list: an empty list is one empty page without neighbours', async (t) => {
  t.same(listBody('', createPage(0, {})), {
    data: [],
    links: { first: `${path}?page=1`, last: `${path}?page=1`, prev: null, next: null },
    meta: {
      current_page: 1,
      from: null,
      last_page: 1,
      path,
      per_page: 20,
      to: null,
      total: 0,
      next_cursor: null,
    },
  })
})

// Contract: List shape
t.test('list: a numbered page links its neighbours by number, and has a cursor', async (t) => {
  const { data, links, meta } = listBody(
    'page=2&per_page=2&status=pending',
    createPage(2, { hasOlder: true, total: 5 }),
  )
  t.same([data.length, data[0]?.id], [2, idAt(0)])
  const filters = 'per_page=2&status=pending'
  t.same(links, {
    first: `${path}?${filters}&page=1`,
    last: `${path}?${filters}&page=3`,
    prev: `${path}?${filters}&page=1`,
    next: `${path}?${filters}&page=3`,
  })
  t.match(meta, { current_page: 2, from: 3, last_page: 3, per_page: 2, to: 4, total: 5 })
  t.same(readCursor(String(meta['next_cursor'])), from('older', 1))
})

// Contract: List parameters
t.test('list: the last page has no next link and no cursor', async (t) => {
  const { links, meta } = listBody('page=3&per_page=2', createPage(1, { hasNewer: true, total: 5 }))
  t.same([links.next, meta['next_cursor'], meta['from'], meta['to']], [null, null, 5, 5])
  t.equal(links.prev, `${path}?per_page=2&page=2`)
})

t.test('list: a page beyond the last is empty, and its prev link is the last page', async (t) => {
  const { links, meta } = listBody('page=9&per_page=2', createPage(0, { hasNewer: true, total: 5 }))
  t.same([links.prev, links.next], [`${path}?per_page=2&page=3`, null])
  t.match(meta, { current_page: 9, from: null, to: null, last_page: 3 })
})

t.test('list: beyond the last page number the next link is a cursor, and there is no last link', async (t) => {
  const { links, meta } = listBody(
    'page=500',
    createPage(20, { hasOlder: true, total: 12_000, totalIsEstimated: true }),
  )
  t.same(cursorIn(links.next), from('older', 19))
  t.equal(links.last, null)
  t.match(meta, { total: 12_000, total_estimated: true, last_page: 600 })
  const near = listBody('page=499', createPage(20, { hasOlder: true, total: 10_000 }))
  t.same([near.links.next, near.links.last], [`${path}?page=500`, `${path}?page=500`])
  t.notOk('total_estimated' in near.meta)
})

// Contract: List shape
// Contract: List parameters
t.test('list: a page from a cursor links both ways by cursors, and has no number', async (t) => {
  const both = createPage(2, { hasOlder: true, hasNewer: true, total: 5 })
  const { links, meta } = listBody(`cursor=${cursor}&per_page=2&from=2026-01-01`, both)
  t.same([cursorIn(links.prev), cursorIn(links.next)], [from('newer', 0), from('older', 1)])
  for (const link of [links.prev, links.next]) t.match(link, `${path}?per_page=2&from=2026-01-01&cursor=`)
  t.equal(links.first, `${path}?per_page=2&from=2026-01-01&page=1`)
  t.match(meta, { current_page: null, from: null, to: null, last_page: 3, total: 5 })
  const ends = listBody(`cursor=${cursor}`, createPage(2, {}))
  t.same([ends.links.prev, ends.links.next, ends.meta['next_cursor']], [null, null, null])
})

t.test('list: escapes given parameters in links', async (t) => {
  const { links } = listBody('from=2026-01-01T00:00:00%2B01:00', createPage(0, {}))
  t.equal(links.first, `${path}?from=2026-01-01T00%3A00%3A00%2B01%3A00&page=1`)
})

const reader = createQueryReader(listParameters, checkList)
const readListQuery = (query: string) => toListQuery(reader(query, { allowTargets: [] }))

const queryErrors = (query: string) => {
  try {
    readListQuery(query)
    return {}
  } catch (error) {
    return (error as AppError).details
  }
}
const place = {
  direction: 'older',
  position: { createdAt: '2026-01-01T00:00:00.000001Z', id: '22222222-2222-4222-8222-222222222222' },
} as const

// Contract: List parameters
t.test('list: without parameters returns the first page of twenty, unfiltered', async (t) => {
  const everything = { status: undefined, from: undefined, to: undefined }
  t.same(readListQuery(''), { ...everything, perPage: 20, at: { page: 1 }, linkParameters: {} })
})

t.test('list: reads its parameters, and keeps them for links as given', async (t) => {
  t.same(readListQuery('to=2026-01-31&status=failed&page=3&per_page=100&from=2026-01-01T00:00:00%2B01:00'), {
    status: 'failed',
    from: '2025-12-31T23:00:00.000000Z',
    to: '2026-01-31T23:59:59.999999Z',
    perPage: 100,
    at: { page: 3 },
    linkParameters: { per_page: '100', status: 'failed', from: '2026-01-01T00:00:00+01:00', to: '2026-01-31' },
  })
  t.same(readListQuery(`cursor=${writeCursor(place)}`).at, place)
})

// Contract: List parameters
t.test('list: a number is whole, decimal and in its range', async (t) => {
  for (const wrong of ['0', '-1', '101', '1.5', '1e1', '0x10', '+5', '%2B5', 'all', '', '99999999999']) {
    t.match(queryErrors(`per_page=${wrong}`), { per_page: ['must be a whole number from 1 to 100, not '] }, wrong)
  }
  for (const wrong of ['0', '-1', '1.5', 'last', '', '99999999999']) {
    t.match(queryErrors(`page=${wrong}`), { page: ['must be a whole number from 1, not '] }, wrong)
  }
  for (const right of ['per_page=1', 'per_page=100', 'page=1']) t.same(queryErrors(right), {}, right)
})

t.test('list: numbers pages within the first 10,000 captures; the cursor goes further', async (t) => {
  t.same(queryErrors('page=500'), {})
  t.same(queryErrors('page=501'), { page: ['must be at most 500 with 20 per page; use cursor to go further'] })
  t.same(queryErrors('page=334&per_page=30'), {})
  t.match(queryErrors('page=335&per_page=30'), { page: [/at most 334 with 30 .* use cursor/] })
})

// Contract: List parameters
t.test('list: a cursor excludes page, and must be valid', async (t) => {
  const text = writeCursor(place)
  t.same(queryErrors(`cursor=${text}&page=1`), { cursor: ['must not be given together with page'] })
  t.same(queryErrors(`cursor=${text.slice(1)}`), { cursor: ['is not a valid cursor'] })
  t.same(queryErrors('cursor='), { cursor: ['is not a valid cursor'] })
})

// Contract: List parameters
t.test('list: a range may be a single moment, and must not end before it begins', async (t) => {
  t.same(queryErrors('from=2026-01-01&to=2026-01-01'), {})
  t.same(queryErrors('from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z'), {})
  t.same(queryErrors('from=2026-01-02&to=2026-01-01'), { to: ['must not be before from'] })
})

// Contract: List parameters
t.test('list: reports all faults at once, each under its name', async (t) => {
  t.match(queryErrors('page=0&per_page=500&status=done&from=yesterday&to=2026-02-30&sort=asc'), {
    page: [/whole number/],
    per_page: [/from 1 to 100/],
    status: ['must be one of pending, processing, completed, failed'],
    from: [/ISO 8601/],
    to: [/ISO 8601/],
    sort: ['is not a parameter'],
  })
  t.match(queryErrors('status=failed&status=pending&status='), { status: ['is given more than once'] })
  t.match(queryErrors('status='), { status: [/one of/] })
  t.match(queryErrors('status=COMPLETED'), { status: [/one of/] })
})

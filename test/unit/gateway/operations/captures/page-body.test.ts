import t from 'tap'
import { type Cursor, readCursor } from '#gateway/http/cursor.ts'
import { pageBody } from '#gateway/operations/captures/page-body.ts'
import { createQueryReader } from '#gateway/http/input.ts'
import { checkList, listParameters, toListQuery } from '#gateway/operations/captures/list-query.ts'
import type { CapturePage } from '#gateway/db/list-captures.ts'
import { pendingCapture } from '#test/helpers/gateway-context.ts'

const idOf = (place: number) => `22222222-2222-4222-8222-${String(place).padStart(12, '0')}`
const pageOf = (length: number, more: Partial<CapturePage>): CapturePage => ({
  captures: Array.from({ length }, (_, place) => ({ ...pendingCapture, id: idOf(place) })),
  hasOlder: false,
  hasNewer: false,
  total: length,
  totalIsEstimated: false,
  ...more,
})

type Body = {
  data: { id: string }[]
  links: Record<'first' | 'last' | 'prev' | 'next', string | null>
  meta: Record<string, unknown>
}
const path = 'https://shots.example/v1/screenshots'
const read = createQueryReader(listParameters, checkList)
const bodyOf = (query: string, page: CapturePage) =>
  pageBody(toListQuery(read(query, { allowTargets: [] })), page, 'https://shots.example') as Body
const cursorIn = (link: string | null | undefined) => readCursor(new URL(link ?? '').searchParams.get('cursor') ?? '')
const from = (direction: Cursor['direction'], place: number) => ({
  direction,
  than: { createdAt: pendingCapture.createdAt, id: idOf(place) },
})
const cursor = String(bodyOf('', pageOf(1, { hasOlder: true })).meta['next_cursor'])

// Contract: List shape
t.test('nothing at all is one empty page without neighbours', async (t) => {
  t.same(bodyOf('', pageOf(0, {})), {
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
t.test('a numbered page knows its neighbours by number, and its cursor', async (t) => {
  const { data, links, meta } = bodyOf('page=2&per_page=2&status=pending', pageOf(2, { hasOlder: true, total: 5 }))
  t.same([data.length, data[0]?.id], [2, idOf(0)])
  const kept = 'per_page=2&status=pending'
  t.same(links, {
    first: `${path}?${kept}&page=1`,
    last: `${path}?${kept}&page=3`,
    prev: `${path}?${kept}&page=1`,
    next: `${path}?${kept}&page=3`,
  })
  t.match(meta, { current_page: 2, from: 3, last_page: 3, per_page: 2, to: 4, total: 5 })
  t.same(readCursor(String(meta['next_cursor'])), from('older', 1))
})

// Contract: List parameters
t.test('the last page has no next and no cursor', async (t) => {
  const { links, meta } = bodyOf('page=3&per_page=2', pageOf(1, { hasNewer: true, total: 5 }))
  t.same([links.next, meta['next_cursor'], meta['from'], meta['to']], [null, null, 5, 5])
  t.equal(links.prev, `${path}?per_page=2&page=2`)
})

t.test('a page beyond the last is empty and leads back to the last', async (t) => {
  const { links, meta } = bodyOf('page=9&per_page=2', pageOf(0, { hasNewer: true, total: 5 }))
  t.same([links.prev, links.next], [`${path}?per_page=2&page=3`, null])
  t.match(meta, { current_page: 9, from: null, to: null, last_page: 3 })
})

t.test('where numbers end the cursor goes on, and the last page has no number', async (t) => {
  const { links, meta } = bodyOf('page=500', pageOf(20, { hasOlder: true, total: 12_000, totalIsEstimated: true }))
  t.same(cursorIn(links.next), from('older', 19))
  t.equal(links.last, null)
  t.match(meta, { total: 12_000, total_estimated: true, last_page: 600 })
  const near = bodyOf('page=499', pageOf(20, { hasOlder: true, total: 10_000 }))
  t.same([near.links.next, near.links.last], [`${path}?page=500`, `${path}?page=500`])
  t.notOk('total_estimated' in near.meta)
})

// Contract: List shape
// Contract: List parameters
t.test('a page from a cursor leads both ways by cursors, and does not know its number', async (t) => {
  const both = pageOf(2, { hasOlder: true, hasNewer: true, total: 5 })
  const { links, meta } = bodyOf(`cursor=${cursor}&per_page=2&from=2026-01-01`, both)
  t.same([cursorIn(links.prev), cursorIn(links.next)], [from('newer', 0), from('older', 1)])
  for (const link of [links.prev, links.next]) t.match(link, `${path}?per_page=2&from=2026-01-01&cursor=`)
  t.equal(links.first, `${path}?per_page=2&from=2026-01-01&page=1`)
  t.match(meta, { current_page: null, from: null, to: null, last_page: 3, total: 5 })
  const ends = bodyOf(`cursor=${cursor}`, pageOf(2, {}))
  t.same([ends.links.prev, ends.links.next, ends.meta['next_cursor']], [null, null, null])
})

t.test('what was given is escaped in links', async (t) => {
  const { links } = bodyOf('from=2026-01-01T00:00:00%2B01:00', pageOf(0, {}))
  t.equal(links.first, `${path}?from=2026-01-01T00%3A00%3A00%2B01%3A00&page=1`)
})

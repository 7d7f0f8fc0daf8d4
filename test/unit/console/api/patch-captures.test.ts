import t from 'tap'
import type { Screenshot } from '#client/responses.js'
import { withCapture, withoutCapture } from '#console/api/patch-captures.ts'
import type { CapturePage } from '#console/api/records.ts'

/** A capture by number: a higher one is newer. */
const capture = (number: number, status: Screenshot['status'] = 'completed'): Screenshot => ({
  id: `capture ${number}`,
  url: null,
  options: { width: 1, height: 1, format: 'png' },
  status,
  created_at: `2026-11-26T00:00:${String(number).padStart(2, '0')}.000000Z`,
})

const page = (numbers: readonly number[], total = 10): CapturePage => ({
  data: numbers.map((number) => capture(number)),
  meta: { total, next_cursor: null },
})

const idsOf = (pages: readonly CapturePage[] | undefined) => pages?.map(({ data }) => data.map(({ id }) => id))

t.test('patch captures: replaces a listed capture in its place, on any page', async (t) => {
  const pages = withCapture([page([4, 3]), page([2, 1])], capture(2, 'pending'), true)
  t.same(idsOf(pages), [
    ['capture 4', 'capture 3'],
    ['capture 2', 'capture 1'],
  ])
  t.equal(pages?.[1]?.data[0]?.status, 'pending')
  t.equal(pages?.[0]?.meta.total, 10)
})

t.test('patch captures: adds a new capture at the top, and counts it', async (t) => {
  const pages = withCapture([page([2, 1])], capture(3), true)
  t.same(idsOf(pages), [['capture 3', 'capture 2', 'capture 1']])
  t.equal(pages?.[0]?.meta.total, 11)
  t.same(idsOf(withCapture([page([], 0)], capture(1), true)), [['capture 1']], 'the first of an empty list')
})

t.test('patch captures: what does not match the filters is left out, and leaves the list', async (t) => {
  t.same(idsOf(withCapture([page([2, 1])], capture(3), false)), [['capture 2', 'capture 1']])
  const pages = withCapture([page([2, 1])], capture(2), false)
  t.same(idsOf(pages), [['capture 1']])
  t.equal(pages?.[0]?.meta.total, 9)
})

t.test(
  'patch captures: a list is read again if the place of a capture is not known, or it has grown too long',
  async (t) => {
    t.equal(withCapture([page([4, 2])], capture(3), true), undefined)
    const long = {
      ...page([]),
      data: Array.from({ length: 200 }, (_, index) => ({ ...capture(1), id: String(index) })),
    }
    t.equal(withCapture([long], capture(2), true), undefined)
  },
)

t.test('patch captures: removes a deleted capture', async (t) => {
  const pages = withoutCapture([page([2, 1])], 'capture 2')
  t.same([idsOf(pages), pages[0]?.meta.total], [[['capture 1']], 9])
  t.same(withoutCapture(pages, 'capture 2'), pages, 'once')
})

import t from 'tap'
import type { Status } from '#shared/capture/status.ts'
import type { CaptureState, RecentCaptures } from '#gateway/db/recent-captures.ts'
import { compareCaptures } from '#gateway/live/compare-captures.ts'

/** Captures by number: a higher one is newer. */
const capture = (number: number, status: Status): CaptureState => ({
  id: String(number).padStart(3, '0'),
  status,
  createdAt: `2026-11-26T00:00:00.${String(number).padStart(6, '0')}Z`,
})

const read = (
  captures: Readonly<Record<number, Status>>,
  more: Partial<Pick<RecentCaptures, 'isAll' | 'hasAllOpen' | 'open'>> = {},
): RecentCaptures => ({
  id: 'account',
  newest: Object.entries(captures)
    .map(([number, status]) => capture(Number(number), status))
    .toReversed(),
  open: [],
  isAll: true,
  hasAllOpen: true,
  ...more,
})

const nothing = { changed: [], left: [], deleted: [], more: false }

t.test('compare captures: reports new ones and those with another status, oldest first', async (t) => {
  const before = read({ 1: 'pending', 2: 'processing', 3: 'completed' })
  const now = read({ 1: 'processing', 2: 'failed', 3: 'completed', 4: 'pending', 5: 'completed' })
  t.same(compareCaptures(before, now), { ...nothing, changed: ['001', '002', '004', '005'] })
  t.same(compareCaptures(now, now), nothing)
  t.same(compareCaptures(read({}), now).changed.length, 5, 'the first captures of an account')
})

t.test('compare captures: one that had ended and is missing was deleted, unless newer ones displaced it', async (t) => {
  const before = read({ 1: 'completed', 2: 'completed', 3: 'completed' }, { isAll: false })
  t.same(compareCaptures(before, read({ 1: 'completed', 3: 'completed' })), { ...nothing, deleted: ['002'] })
  const displaced = read({ 2: 'completed', 3: 'completed', 4: 'pending' }, { isAll: false })
  t.same(compareCaptures(before, displaced), { ...nothing, changed: ['004'] })
  t.same(compareCaptures(read({ 1: 'failed' }), read({})), { ...nothing, deleted: ['001'] }, 'the last of an account')
})

t.test('compare captures: one that had not ended and is missing is looked up', async (t) => {
  const before = read({ 2: 'completed' }, { open: [capture(1, 'processing')], isAll: false })
  t.same(compareCaptures(before, read({ 2: 'completed' }, { isAll: false })), { ...nothing, left: ['001'] })
})

t.test('compare captures: an older one that takes the place of a deleted one is not new', async (t) => {
  const before = read({ 2: 'completed', 3: 'completed' }, { isAll: false })
  const now = read({ 1: 'completed', 2: 'completed' }, { isAll: true })
  t.same(compareCaptures(before, now), { ...nothing, deleted: ['003'] })
})

t.test('compare captures: says when others may have changed', async (t) => {
  const before = read({ 1: 'completed', 2: 'completed' }, { isAll: false })
  const gap = read({ 8: 'completed', 9: 'completed' }, { isAll: false })
  t.same(compareCaptures(before, gap), { ...nothing, changed: ['008', '009'], more: true })
  const cut = read({ 1: 'completed', 2: 'completed' }, { isAll: false, hasAllOpen: false })
  t.ok(compareCaptures(before, cut).more && compareCaptures(cut, before).more, 'some open ones are not read')
  const appeared = read({ 1: 'completed', 2: 'completed' }, { isAll: false, open: [capture(0, 'processing')] })
  t.same(compareCaptures(before, appeared), { ...nothing, more: true }, 'nothing is known of what it was')
})

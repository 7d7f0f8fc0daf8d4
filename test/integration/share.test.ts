import t from 'tap'
import { share } from '#test/helpers/share.ts'

const list = Array.from({ length: 10 }, (_, index) => index)

t.test('share: the only part is the whole list', async (t) => {
  t.same(share(list, '0/1'), list)
})

t.test('share: the parts of a list are disjoint, and together the whole', async (t) => {
  const parts = ['0/4', '1/4', '2/4', '3/4'].map((part) => share(list, part))
  t.same(parts[1], [1, 5, 9])
  t.same(
    parts.flat().toSorted((a, b) => a - b),
    list,
  )
})

t.test('share: a list shorter than the number of parts is never tried in no part', async (t) => {
  t.same(share([7], '3/4'), [7])
  t.same(share([], '3/4'), [])
})

t.test('share: what is not a part is refused with an example', async (t) => {
  for (const part of ['4/4', '1', '-1/4', '1/0', ''])
    t.throws(
      () => share(list, part),
      { message: `TEST_SHARE is "${part}"; it is the number of a part from 0 on` },
      part,
    )
})

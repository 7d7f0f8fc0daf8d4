import t from 'tap'
import { percentile } from '#controller/decide/percentile.ts'

t.test('percentile: is the least value that the share does not exceed, in any order', async (t) => {
  const values = [10, 1, 9, 2, 8, 3, 7, 4, 6, 5]
  t.strictSame(
    [0, 0.05, 0.5, 0.51, 0.9, 1].map((share) => percentile(values, share)),
    [1, 1, 5, 6, 9, 10],
  )
  t.strictSame([percentile([7], 0.99), percentile([], 0.5)], [7, undefined])
})

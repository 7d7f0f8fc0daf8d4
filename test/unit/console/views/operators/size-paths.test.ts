import t from 'tap'
import { sizePaths } from '#console/views/operators/size-paths.ts'

const change = (seconds: number, desired: number, ready?: number) => ({
  at: new Date(seconds * 1000).toISOString(),
  desired,
  min: 0,
  max: 4,
  decision: 'hold',
  reason: 'steady',
  ...(ready !== undefined && { ready }),
})

t.test('size of a pool: is drawn in steps until now, without what could not be read', async (t) => {
  t.same(sizePaths([change(0, 4, 0), change(5, 2, 4), change(10, 2)], 10_000), {
    ready: 'M0.0 96.0 H500.0 V4.0 H1000',
    desired: 'M0.0 4.0 H500.0 V50.0 H1000.0 V50.0 H1000',
  })
  t.same(sizePaths([], 0), { ready: '', desired: '' })
})

import t from 'tap'
import { toBacklog } from '#ledger/publish-backlog.ts'
import type { PoolCount } from '#shared/db/count-backlog.ts'

const empty = { pending: 0, processing: 0, accepted: 0, oldestMs: 0 }
const bulk = { pending: 3, processing: 2, accepted: 5, oldestMs: 12.6 }
const counts: PoolCount[] = [{ pool: 'standard', ...bulk, lanes: { interactive: empty, normal: empty, bulk } }]

t.test('publish backlog: reports whole numbers of the pool and of its lanes', async (t) => {
  const pending = { pending: 3, processing: 2, oldestMs: 13 }
  const lanes = { interactive: empty, normal: empty, bulk: { ...pending, accepted: 5 } }
  t.strictSame(
    toBacklog(counts, () => undefined),
    [{ pool: 'standard', ...pending, lanes }],
  )
})

t.test('publish backlog: a prediction is part of its lanes', async (t) => {
  const [backlog] = toBacklog(counts, () => ({ intoMinuteMs: 7, lanes: { normal: [0, 90] } }))
  t.equal(backlog?.intoMinuteMs, 7)
  t.strictSame(backlog?.lanes.normal.predicted, [0, 90])
  t.equal(backlog?.lanes.interactive.predicted, undefined)
})

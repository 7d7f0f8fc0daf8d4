import t from 'tap'
import { appendReading, type Reading, toBacklog } from '#ledger/publish-backlog.ts'

const reading = (atMs: number, accepted: number): Reading => {
  const empty = { pending: 0, processing: 0, accepted: 0, oldestMs: 0 }
  const bulk = { pending: 3, processing: 2, accepted, oldestMs: 12.6 }
  return { atMs, counts: [{ pool: 'standard', ...bulk, lanes: { interactive: empty, normal: empty, bulk } }] }
}
const unpredicted = () => undefined
const arrivals = (...readings: Reading[]) => toBacklog(readings, unpredicted)[0]?.arrivals10s

t.test('publish backlog: publishes nothing after a single reading', async (t) => {
  t.same(toBacklog([], unpredicted), [])
  t.same(toBacklog([reading(0, 5)], unpredicted), [])
})

t.test('publish backlog: arrivals cover ten seconds, extrapolated from shorter spans', async (t) => {
  t.equal(arrivals(reading(0, 5), reading(10_000, 25)), 20)
  t.equal(arrivals(reading(0, 5), reading(2000, 7)), 10)
  t.equal(arrivals(reading(0, 5), reading(1000, 0)), 0, 'a counter that decreased means no arrivals')
})

t.test('publish backlog: all other numbers are from the newest reading', async (t) => {
  const [backlog] = toBacklog([reading(0, 5), reading(1000, 5)], unpredicted)
  const empty = { pending: 0, processing: 0, oldestMs: 0, accepted: 0 }
  const bulk = { pending: 3, processing: 2, oldestMs: 13, accepted: 5 }
  t.strictSame(backlog, {
    pool: 'standard',
    ...bulk,
    arrivals10s: 0,
    lanes: { interactive: empty, normal: empty, bulk },
  })
})

t.test('publish backlog: drops readings older than ten seconds', async (t) => {
  const readings = [0, 1000, 11_000].reduce<Reading[]>((all, atMs) => appendReading(all, reading(atMs, 0)), [])
  t.same(
    readings.map(({ atMs }) => atMs),
    [1000, 11_000],
  )
})

t.test('publish backlog: keeps the reading before, however long ago', async (t) => {
  const readings = [0, 30_000].reduce<Reading[]>((all, atMs) => appendReading(all, reading(atMs, 0)), [])
  t.equal(readings.length, 2)
})

t.test('publish backlog: a prediction is part of its lanes', async (t) => {
  const [backlog] = toBacklog([reading(0, 5), reading(1000, 5)], () => ({
    intoMinuteMs: 7,
    lanes: { normal: [0, 90] },
  }))
  t.equal(backlog?.intoMinuteMs, 7)
  t.strictSame(backlog?.lanes?.normal.predicted, [0, 90])
  t.equal(backlog?.lanes?.interactive.predicted, undefined)
})

import t from 'tap'
import { comparedMinutesAgo, predictArrivals } from '#shared/policy/predict-arrivals.ts'

const [hour, day, week] = [60, 24 * 60, 7 * 24 * 60]
/** Predicts when 100 captures came at each of the given minutes before, and none at the others. */
const after = (...minutesAgo: number[]) => predictArrivals((ago) => (minutesAgo.includes(ago) ? 100 : 0))
const times = (periodMinutes: number, count: number) =>
  Array.from({ length: count }, (_, index) => (index + 1) * periodMinutes)

t.test('predict arrivals: what came at the same minute of 22 of the last 24 hours comes again', (t) => {
  t.equal(after(...times(hour, 24).slice(2)), 100)
  t.equal(after(...times(hour, 24).slice(3)), 0)
  t.end()
})

t.test('predict arrivals: what came on 6 of the last 7 days comes again', (t) => {
  t.equal(after(...times(day, 7).slice(1)), 100)
  t.equal(after(...times(day, 7).slice(2)), 0)
  t.end()
})

t.test('predict arrivals: what came in each of the last 4 weeks comes again, as on working days', (t) => {
  t.equal(after(...times(week, 4)), 100)
  t.equal(after(...times(week, 4).slice(1)), 0)
  t.end()
})

t.test('predict arrivals: as many come as did each time but for the exceptions', (t) => {
  const counts = new Map(times(day, 7).map((ago, index) => [ago, [50, 900, 70, 40, 60, 80, 3][index]]))
  t.equal(
    predictArrivals((ago) => counts.get(ago)),
    40,
  )
  t.end()
})

t.test('predict arrivals: minutes that were not counted show no pattern', (t) => {
  t.equal(
    predictArrivals(() => undefined),
    0,
  )
  t.equal(
    predictArrivals((ago) => (ago < 5 * day ? 100 : undefined)),
    100,
    'but 24 hours are enough for an hourly one',
  )
  t.end()
})

t.test('predict arrivals: reads only the minutes that it names', (t) => {
  const read = new Set<number>()
  predictArrivals((ago) => {
    read.add(ago)
    return 0
  })
  t.strictSame([...read], comparedMinutesAgo)
  t.end()
})

import t from 'tap'
import { expectedLoad, followLoad } from '#controller/decide/load.ts'
import { type Backlog, emptyBacklog, type Load } from '#controller/decide/pool.ts'
import { byLane, type Lane } from '#shared/capture/lane.ts'
import { observedPool, poolPolicy } from '#test/helpers/observed-pool.ts'

const policy = poolPolicy()
const serviceMs = 2000

const counted = (atMs: number, accepted: Partial<Record<Lane, number>>): Backlog => ({
  ...emptyBacklog,
  atMs,
  lanes: byLane((lane) => ({ ...emptyBacklog.lanes[lane], accepted: accepted[lane] ?? 0 })),
})
const follow = (before: Load | undefined, backlog: Backlog | 'unknown') =>
  followLoad(before, observedPool({ backlog, serviceMs }), policy)
/** The estimate after one count a second, each with as many more captures of a lane. */
const after = (arrivals: readonly number[], lane: Lane = 'interactive', start?: Load) => {
  let accepted = start?.[lane].accepted ?? 0
  let load = start ?? follow(undefined, counted(1000, {}))
  const fromMs = load?.atMs ?? 0
  for (const [second, count] of arrivals.entries()) {
    accepted += count
    load = follow(load, counted(fromMs + (second + 1) * 1000, { [lane]: accepted }))
  }
  if (!load) throw new Error('no estimate')
  return load
}
const constant = (perSecond: number, seconds: number) => Array.from({ length: seconds }, () => perSecond)
const expected = (load: Load, lane: Lane = 'interactive', known = 1000) =>
  expectedLoad(load, lane, {
    serviceMs,
    objectiveMs: policy.objectivesMs[lane],
    holdMs: policy.holdMs,
    running: known,
    waiting: 0,
  }).certain

t.test('load: is what the arrivals keep busy on average, from the first counts on', (t) => {
  for (const seconds of [1, 5, 600])
    t.equal(Math.round(after(constant(10, seconds)).interactive.slow * 1000), 20_000, `after ${seconds} s`)
  t.end()
})

t.test('load: is the more certain, the longer it lasts', (t) => {
  const [first = 0, second = 0, third = 0] = [2, 10, 600].map((seconds) => expected(after(constant(10, seconds))))
  t.ok(first < second && second < third && third < 20, `${first}, ${second} and ${third} of 20 slots`)
  t.ok(third > 19)
  t.end()
})

t.test('load: is 0 until the service time of a capture was measured', (t) => {
  const unmeasured = (before: Load | undefined, backlog: Backlog) =>
    followLoad(before, observedPool({ backlog, serviceMs: undefined }), policy)
  const later = unmeasured(unmeasured(undefined, counted(1000, {})), counted(2000, { interactive: 50 }))
  t.equal(later?.interactive.slow, 0)
  t.equal(follow(later, counted(3000, { interactive: 51 }))?.interactive.slow, 2)
  t.end()
})

t.test('load: rises within seconds of a burst, and falls in minutes', (t) => {
  const calm = after(constant(1, 600))
  const burst = after(constant(20, 3), 'interactive', calm)
  t.ok(expected(burst) > 15, `${expected(burst)} of 40 slots after 3 s`)
  t.equal(Math.round(expected(burst, 'interactive', 7)), 7, 'by no more than the captures that are known')
  const over = after(constant(1, 60), 'interactive', after(constant(20, 300), 'interactive', calm))
  t.ok(expected(over) > 15, `${expected(over)} slots a minute later`)
  t.end()
})

t.test('load: a count that chance explains changes nothing', (t) => {
  const calm = after(constant(10, 600))
  const [more] = [after([14], 'interactive', calm)]
  t.ok(expected(more) < 20.5, `${expected(more)} slots`)
  t.end()
})

t.test('load: a batch at once does not count as a load of its lane, a minute of arrivals does', (t) => {
  const known = after(constant(0, 600), 'bulk')
  t.ok(expected(after([100], 'bulk', known), 'bulk') < 3)
  t.ok(expected(after(constant(10, 120), 'bulk', known), 'bulk') > 12)
  t.end()
})

t.test('load: lanes are estimated apart', (t) => {
  const load = after(constant(5, 60), 'normal')
  t.equal(Math.round(load.normal.slow), 10)
  t.equal(expected(load, 'interactive'), 0)
  t.end()
})

t.test('load: stays as it was without a new count, and does not fall below 0 when the count does', (t) => {
  const load = after(constant(10, 60))
  t.equal(follow(load, 'unknown'), load)
  t.equal(follow(load, counted(load.atMs, { interactive: 9999 })), load, 'the same report again')
  const restored = follow(load, counted(load.atMs + 1000, { interactive: 3 }))
  t.ok((restored?.interactive.quick ?? Number.NaN) >= 0)
  t.equal(restored?.interactive.accepted, 3)
  t.end()
})

t.test('load: of captures that wait only as many count as their objective leaves at a time', (t) => {
  const batch = after([...constant(0, 200), 1000], 'bulk')
  const state = { serviceMs, objectiveMs: 120_000, holdMs: policy.holdMs, running: 0, waiting: 1000 }
  const { certain } = expectedLoad(batch, 'bulk', state)
  t.ok(certain > 10 && certain < 17, `${certain} slots for 2000 s of work within 120 s`)
  const young = after([0, 1000], 'bulk')
  t.ok(expectedLoad(young, 'bulk', state).certain < 17, 'also for a controller that has just started')
  t.end()
})

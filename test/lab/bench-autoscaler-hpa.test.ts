// The vectors are facts of Kubernetes 1.36.4, pkg/controller/podautoscaler: each table names its function of horizontal_test.go or
// replica_calculator_test.go. Left out are those of other metrics (CPU, memory, objects, pods, several), of conditions and events, of
// conflicts, of the feature gate HPAScaleToZero, the two of TestStoreScaleEvents without behavior, and
// TestExternalPerPodMetricReplicaOverflow, which is about 32-bit integers.
import t from 'tap'
import { createDocumentedHpa, createNaiveHpa } from '#test/bench/autoscaler/laws/examples.ts'
import {
  type Behavior,
  changeWithin,
  defaultBehavior,
  limitRate,
  scaleDownLimit,
  type ScalingRules,
  scaleUpLimit,
  stabilize,
  store,
  storeEvent,
} from '#test/bench/autoscaler/laws/hpa-behavior.ts'
import {
  createHpa,
  externalReplicas,
  Hpa,
  hpaDefaults,
  limitDoubling,
  stabilizeDown,
} from '#test/bench/autoscaler/laws/hpa.ts'
import { commonStepMs } from '#test/bench/autoscaler/laws/schedule.ts'
import { idleSight } from '#test/helpers/idle-sight.ts'

const nowMs = 3_600_000
/** generateScalingRules: pods, their period, percent, its period, window; seconds. A zero leaves a policy out. */
type Rules = readonly [number, number, number, number, number]
const rulesOf = ([pods, podsSeconds, percent, percentSeconds, windowSeconds]: Rules): ScalingRules => ({
  windowMs: windowSeconds * 1000,
  select: 'Max',
  policies: [
    ...(pods ? [{ type: 'Pods' as const, value: pods, periodMs: podsSeconds * 1000 }] : []),
    ...(percent ? [{ type: 'Percent' as const, value: percent, periodMs: percentSeconds * 1000 }] : []),
  ],
})
const behaviorOf = ({ up, down }: { readonly up?: Rules; readonly down?: Rules }): Behavior => ({
  scaleUp: up ? rulesOf(up) : defaultBehavior.scaleUp,
  scaleDown: down ? rulesOf(down) : defaultBehavior.scaleDown,
})

/** The numbers of `4@2 5@1`, each with its age. */
const aged = (past: string, unitMs: number) =>
  [...past.matchAll(/(\d+)@(\d+)/g)].map(([, value, age]) => ({
    value: Number(value),
    atMs: nowMs - Number(age) * unitMs,
  }))

/** generateEventsUniformDistribution: each in the middle of its part of the last 120 s, in whole seconds. */
const spread = (changes: readonly number[]) =>
  changes.map((change, index) => {
    const partSeconds = 120 / changes.length
    return { atMs: nowMs - 1000 * Math.trunc(120 - partSeconds * (index + 1) + partSeconds / 2), change }
  })

t.test('hpa: replicas for an AverageValue of an external metric', async (t) => {
  // pods, metric, target, replicas
  const cases = [
    ['TestReplicaCalcScaleUpPerPodCMExternal', 3, 8600, 2150, 4],
    ['TestReplicaCalcScaleDownPerPodCMExternal', 5, 8600, 2867, 3],
    ['TestReplicaCalcTolerancePerPodCMExternal', 3, 8600, 2900, 3],
    ['TestExternalPerPodMetricUsageOverflow', 1, 2 ** 63, 2 ** 63, 1],
  ] as const
  for (const [name, pods, usage, target, want] of cases)
    t.equal(externalReplicas(usage, target, pods, hpaDefaults.tolerances), want, name)
  const name = 'TestReplicaCalcConfigurableTolerancePerPodCMExternal'
  t.equal(externalReplicas(8600, 2800, 3, { down: 0.1, up: 0.01 }), 4, name)
})

t.test('hpa: an evaluation within bounds', async (t) => {
  // least, most, pods, metric, target, size; of vectors with CPU, a metric with the same ratio
  const cases = [
    ['TestScaleUpPerPodCMExternal', 2, 6, 3, 8600, 2222, 4],
    ['TestTolerancePerPodCMExternal', 2, 6, 4, 8600, 2200, 4],
    ['TestScaleDownStabilizeInitialSize', 2, 6, 5, 56, 20, 5],
    ['TestMaxReplicas', 2, 5, 3, 617, 90, 5],
    ['TestTooFewReplicas', 3, 5, 2, 0, 90, 3],
    ['TestTooManyReplicas', 3, 5, 10, 0, 90, 5],
    ['TestScaleUpRCImmediately', 2, 6, 1, 0, 50, 2],
    ['TestScaleDownRCImmediately', 2, 5, 6, 617, 50, 5],
    ['TestZeroReplicas', 3, 5, 0, 0, 90, 0],
  ] as const
  for (const [name, min, max, current, usage, target, want] of cases)
    t.equal(new Hpa(hpaDefaults).evaluate({ nowMs, min, max, current, pods: current, usage, target }), want, name)
  const capped = new Hpa({ ...hpaDefaults, behavior: behaviorOf({ up: [0, 0, 700, 60, 0] }) })
  const reading = { nowMs, min: 1, current: 3, pods: 3, usage: 60, target: 1 }
  t.equal(capped.evaluate({ ...reading, max: 100 }), 24, 'TestUpscaleCap')
  const bounded = new Hpa({ ...hpaDefaults, behavior: behaviorOf({ up: [0, 0, 700, 60, 0] }) })
  t.equal(bounded.evaluate({ ...reading, max: 20 }), 20, 'TestUpscaleCapGreaterThanMaxReplicas')
})

t.test('hpa: scales down once all greater recommendations are older than the window', async (t) => {
  const hpa = new Hpa(hpaDefaults)
  const reading = { min: 2, max: 6, current: 5, pods: 5, target: 3000 }
  t.equal(hpa.evaluate({ ...reading, nowMs, usage: 15_000 }), 5)
  t.equal(hpa.evaluate({ ...reading, nowMs: nowMs + 300_000, usage: 8600 }), 5)
  t.equal(hpa.evaluate({ ...reading, nowMs: nowMs + 300_001, usage: 8600 }), 3, 'TestScaleDownPerPodCMExternal')
})

t.test('hpa: at most twice the pods or four, without behavior', async (t) => {
  // TestConvertDesiredReplicasWithRules: current, desired, least, most, size
  const cases = [
    [5, 7, 3, 8, 7],
    [3, 1, 2, 8, 2],
    [1, 0, 0, 10, 0],
    [20, 1000, 1, 10, 10],
    [3, 1000, 1, 2000, 6],
  ] as const
  for (const [current, desired, min, max, want] of cases)
    t.equal(limitDoubling(desired, { current, min, max }), want, `${current} to ${desired}`)
})

t.test('hpa: the greatest recommendation of the window, without behavior', async (t) => {
  // TestNormalizeDesiredReplicas: past sizes with their ages in minutes, desired, size, entries of the log
  const cases: readonly (readonly [string, string, number, number, number])[] = [
    ['empty log', '', 5, 5, 1],
    ['stabilize', '4@2 5@1', 3, 5, 3],
    ['no stabilize', '1@2 2@1', 3, 3, 3],
    ['no stabilize - old recommendations', '10@10 9@9', 3, 3, 2],
    ['stabilize - old recommendations', '10@10 4@1 5@2 9@9', 3, 5, 4],
  ]
  for (const [name, past, desired, want, length] of cases) {
    const log = aged(past, 60_000).map(({ value, atMs }) => ({ size: value, atMs }))
    t.equal(stabilizeDown(desired, log, { nowMs, windowMs: 300_000 }), want, name)
    const isOutdated = ({ atMs }: { atMs: number }) => atMs < nowMs - 300_000
    t.equal(store(log, isOutdated, { size: desired, atMs: nowMs }).length, length, name)
  }
})

t.test('hpa: the limit of two policies of which the smaller change is selected', async (t) => {
  const rules: ScalingRules = { ...rulesOf([2, 60, 50, 60, 300]), select: 'Min' }
  const none = { up: [], down: [] }
  t.equal(scaleUpLimit(1, none, rules, nowMs), 2, 'TestCalculateScaleUpLimitWithScalingRules')
  t.equal(scaleDownLimit(5, none, rules, nowMs), 3, 'TestCalculateScaleDownLimitWithBehaviors')
  t.equal(scaleUpLimit(5, none, { ...rules, select: 'Disabled' }, nowMs), 5)
  t.equal(scaleDownLimit(5, none, { ...rules, select: 'Disabled' }, nowMs), 5)
})

t.test('hpa: the rates of a behavior', async (t) => {
  type Case = {
    readonly name: string
    /** current, desired, least, most, size */
    readonly sizes: readonly [number, number, number, number, number]
    readonly up?: Rules
    readonly down?: Rules
    readonly ups?: readonly number[]
    readonly downs?: readonly number[]
  }
  // TestScalingWithRules; the seventh is skipped there
  const cases: readonly Case[] = [
    { name: 'within range', sizes: [5, 7, 3, 8, 7] },
    { name: 'below the least', sizes: [3, 1, 2, 8, 2] },
    { name: 'to zero', sizes: [1, 0, 0, 10, 0] },
    { name: 'most below the limit', sizes: [20, 1000, 1, 10, 10] },
    { name: 'above the most', sizes: [100, 1000, 100, 150, 150] },
    { name: 'limit below the most', sizes: [3, 1000, 1, 2000, 4], up: [0, 0, 1, 60, 0] },
    { name: 'limit above the least', sizes: [1000, 3, 3, 2000, 980], down: [20, 60, 0, 0, 0] },
    { name: 'up by default', sizes: [10, 50, 1, 1000, 20] },
    { name: 'up, more pods than percent', sizes: [10, 500, 1, 1000, 110], up: [100, 60, 100, 60, 0] },
    { name: 'up, more percent than pods', sizes: [10, 500, 1, 1000, 20], up: [2, 60, 100, 60, 0] },
    { name: 'up, many pods', sizes: [10, 50, 1, 1000, 50], up: [100, 60, 0, 0, 0] },
    { name: 'up, 10,000 pods', sizes: [10, 50, 1, 1000, 50], up: [10_000, 60, 0, 0, 0] },
    { name: 'up, pods limit', sizes: [10, 50, 1, 1000, 40], up: [30, 60, 0, 0, 0] },
    { name: 'up, percent limits', sizes: [10, 50, 1, 1000, 30], up: [0, 0, 200, 60, 0] },
    { name: 'down, more pods than percent', sizes: [100, 2, 1, 1000, 80], down: [20, 60, 1, 60, 300] },
    { name: 'down, two pods', sizes: [100, 2, 1, 1000, 98], down: [2, 60, 1, 60, 300] },
    { name: 'down to one', sizes: [10, 0, 1, 1000, 1], down: [100, 60, 0, 0, 300] },
    { name: 'down to five, percent', sizes: [10, 2, 5, 1000, 5], down: [0, 0, 100, 60, 300] },
    { name: 'down, pods limit', sizes: [10, 2, 1, 1000, 5], down: [5, 60, 0, 0, 300] },
    { name: 'down, percent', sizes: [10, 5, 1, 1000, 5], down: [0, 0, 50, 60, 300] },
    { name: 'up after ups, most, pods', sizes: [100, 500, 1, 200, 200], up: [300, 60, 0, 0, 0], ups: [1, 5, 9] },
    { name: 'up after ups, most, percent', sizes: [100, 500, 1, 200, 200], up: [0, 0, 10_000, 60, 0], ups: [1, 5, 9] },
    { name: 'up after too many ups', sizes: [100, 500, 1, 1000, 100], up: [5, 120, 0, 0, 0], ups: [1, 5, 9] },
    { name: 'up after ups, pods', sizes: [100, 500, 1, 1000, 235], up: [150, 120, 0, 0, 0], ups: [1, 5, 9] },
    { name: 'up after ups, percent', sizes: [100, 500, 1, 1000, 255], up: [0, 0, 200, 120, 0], ups: [1, 5, 9] },
    { name: 'up after both', sizes: [6, 24, 1, 1000, 16], up: [0, 0, 300, 300, 0], ups: [4], downs: [2] },
    { name: 'down by default after downs', sizes: [10, 5, 1, 1000, 5], downs: [1, 5, 9] },
    { name: 'down after downs to one', sizes: [100, 0, 1, 1000, 1], down: [115, 120, 0, 0, 300], downs: [1, 5, 9] },
    { name: 'down after downs to five', sizes: [100, 0, 5, 1000, 5], down: [130, 120, 0, 0, 300], downs: [1, 5, 9] },
    { name: 'down after downs, all', sizes: [100, 2, 5, 1000, 5], down: [0, 0, 100, 120, 300], downs: [1, 5, 9] },
    { name: 'down after downs, pods', sizes: [100, 2, 1, 1000, 100], down: [5, 120, 0, 0, 300], downs: [1, 5, 9] },
    { name: 'down after downs, percent', sizes: [100, 0, 1, 1000, 56], down: [0, 0, 50, 120, 300], downs: [2, 4, 6] },
    { name: 'down after both', sizes: [10, 1, 1, 1000, 6], down: [0, 0, 50, 180, 0], ups: [2], downs: [4] },
    { name: 'down after too many', sizes: [100, 0, 1, 1000, 100], down: [0, 0, 10, 120, 300], downs: [10, 10, 10] },
    { name: 'down below zero', sizes: [10, 5, 1, 1000, 5], down: [0, 0, 1000, 120, 300], downs: [10, 10, 10] },
    { name: 'up, one old', sizes: [100, 200, 1, 1000, 200], up: [1000, 60, 0, 0, 0], ups: [8, 12, 9, 11] },
    { name: 'up, none old', sizes: [100, 200, 1, 1000, 200], up: [1000, 120, 100, 60, 0], ups: [8, 12, 9, 11] },
    { name: 'up, both old', sizes: [100, 200, 1, 1000, 200], up: [1000, 30, 100, 60, 0], ups: [8, 12, 9, 11] },
    { name: 'down, one old', sizes: [100, 5, 1, 1000, 5], down: [1000, 60, 0, 0, 300], downs: [8, 12, 9, 11] },
    { name: 'down, none old', sizes: [100, 5, 1, 1000, 5], down: [1000, 120, 100, 60, 300], downs: [8, 12, 9, 11] },
    { name: 'down, both old', sizes: [100, 5, 1, 1000, 5], down: [1000, 30, 100, 60, 300], downs: [8, 12, 9, 11] },
  ]
  for (const { name, sizes, up, down, ups = [], downs = [] } of cases) {
    const [current, desired, min, max, want] = sizes
    const events = { up: spread(ups), down: spread(downs) }
    const behavior = behaviorOf({ ...(up && { up }), ...(down && { down }) })
    t.equal(limitRate(desired, { nowMs, current, min, max }, events, behavior), want, name)
  }
})

t.test('hpa: the log of changes', async (t) => {
  // TestStoreScaleEvents: past changes with their ages in seconds, rules, sum of 60 s, changes after one of 5
  const cases: readonly (readonly [string, string, Rules, number, readonly number[]])[] = [
    ['empty', '', [10, 60, 100, 60, 0], 0, [5]],
    ['outdated', '7@61', [10, 60, 100, 60, 0], 0, [5]],
    ['actual', '7@58', [10, 60, 100, 60, 0], 7, [7, 5]],
    ['one of two outdated', '7@61 6@59', [10, 60, 0, 0, 0], 6, [5, 6]],
    ['the last one replaced', '8@29 6@59 7@61 9@61', [10, 60, 100, 30, 0], 14, [8, 6, 7, 5]],
    ['both actual', '7@58 6@59', [10, 120, 100, 30, 0], 13, [7, 6, 5]],
  ]
  for (const [name, past, rules, sum, want] of cases) {
    const events = aged(past, 1000).map(({ value, atMs }) => ({ change: value, atMs }))
    t.equal(changeWithin(60_000, events, nowMs), sum, name)
    const stored = storeEvent(events, rulesOf(rules), { change: 5, atMs: nowMs })
    t.same(
      stored.map(({ change }) => change),
      want,
      name,
    )
  }
})

t.test('hpa: the windows of a behavior', async (t) => {
  // TestNormalizeDesiredReplicasWithBehavior: past sizes with their ages in minutes, current, desired, size, windows up and down in
  // seconds, sizes in the log if given
  const cases: readonly (readonly [string, string, number, number, number, number, number, (readonly number[])?])[] = [
    ['empty', '', 100, 5, 5, 0, 0, [5]],
    ['down', '4@2 5@1', 100, 3, 5, 0, 180, [4, 5, 3]],
    ['up', '4@2 5@1', 1, 7, 4, 300, 0, [4, 5, 7]],
    ['not down', '1@2 2@1', 100, 3, 3, 300, 0, [1, 2, 3]],
    ['not up', '4@2 5@1', 1, 3, 3, 0, 300, [4, 5, 3]],
    ['not down, an entry again', '10@10 9@9', 100, 3, 3, 0, 0, [10, 3]],
    ['not up, an entry again', '10@10 9@9', 1, 100, 100, 0, 0, [10, 100]],
    ['down, an entry again', '10@10 4@1 5@2 9@9', 100, 3, 5, 0, 180, [10, 4, 5, 3]],
    ['up, an entry again', '10@100 6@1 5@2 9@3', 1, 100, 5, 300, 0, [100, 6, 5, 9]],
    ['not up when less is desired', '2@100 3@3', 2, 1, 2, 300, 300],
    ['not down when more is desired', '2@100 1@3', 2, 3, 2, 300, 300],
  ]
  for (const [name, past, current, desired, want, upSeconds, downSeconds, log] of cases) {
    const entries = aged(past, 60_000).map(({ value, atMs }) => ({ size: value, atMs }))
    const windows = { scaleUp: { windowMs: upSeconds * 1000 }, scaleDown: { windowMs: downSeconds * 1000 } }
    t.equal(stabilize(desired, { nowMs, current }, entries, windows), want, name)
    const longestMs = 1000 * Math.max(upSeconds, downSeconds)
    const stored = store(entries, ({ atMs }) => atMs < nowMs - longestMs, { size: desired, atMs: nowMs })
    if (log)
      t.same(
        stored.map(({ size }) => size),
        log,
        name,
      )
  }
})

/** Sizes each 15 s, of a pool whose pods are all ready, at the captures that wait and run. */
const sizes = (
  create: typeof createDocumentedHpa,
  loads: readonly { waiting: number; running: number }[],
  start = 1,
) => {
  const law = create({ min: 1, max: 20, slots: 1 })
  let size = start
  return loads.map((load, turn) => {
    for (let atMs = turn * 15_000; atMs < (turn + 1) * 15_000; atMs += law.everyMs)
      size = law.size({ ...idleSight, ...load, nowMs: atMs, ready: size })
    return size
  })
}

t.test('hpa: a law at most doubles, from four on, each 15 s', async (t) => {
  const loads = Array.from({ length: 4 }, () => ({ waiting: 30, running: 0 }))
  t.same(sizes(createHpa(), loads), [4, 8, 16, 20])
})

t.test('hpa: the documented example keeps the pods of running captures, on waiting ones it does not', async (t) => {
  const loads = Array.from({ length: 25 }, () => ({ waiting: 0, running: 8 }))
  t.equal(sizes(createDocumentedHpa, loads, 8).at(-1), 8)
  t.equal(sizes(createNaiveHpa, loads, 8).at(-1), 1)
  t.equal(sizes(createNaiveHpa, loads.slice(0, 20), 8).at(-1), 8)
})

t.test('hpa: the documented example reads what Prometheus scraped last', async (t) => {
  const sizeOf = (scraped: number, since: number) => {
    const law = createDocumentedHpa({ min: 1, max: 20, slots: 2 })
    law.size({ ...idleSight, nowMs: 0, ready: 1 })
    law.size({ ...idleSight, nowMs: 5000, ready: 1, waiting: scraped })
    return law.size({ ...idleSight, nowMs: 7500, ready: 1, waiting: since })
  }
  t.strictSame([sizeOf(0, 6), sizeOf(6, 0)], [1, 3])
})

t.test('hpa: the documented example grows by as many as are missing at once', async (t) => {
  const loads = Array.from({ length: 2 }, () => ({ waiting: 30, running: 0 }))
  t.same(sizes(createDocumentedHpa, loads), [20, 20])
})

t.test('hpa: pods that are starting count', async (t) => {
  const law = createHpa()({ min: 1, max: 30, slots: 1 })
  const sight = { ...idleSight, running: 19, waiting: 2, ready: 19, starting: 1 }
  law.size(sight)
  t.equal(law.size({ ...sight, nowMs: 7500 }), 20)
})

t.test('laws: the step between evaluations meets all periods', async (t) => {
  t.equal(commonStepMs(15_000, 7500, 0), 7500)
  t.equal(commonStepMs(2000, 15_000, 7500), 500)
})

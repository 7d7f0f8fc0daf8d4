// The vectors are facts of Knative Serving 1.23.0: each table names its function of pkg/autoscaler/scaling/autoscaler_test.go,
// pkg/autoscaler/aggregation/bucketing_test.go and max/timewindow_test.go, or pkg/reconciler/autoscaling/kpa/scaler_test.go. Left out are
// those of metrics, failed reads, requests per second, unreachable revisions, an activation scale, weighted averages, changed settings
// (Update, ResizeWindow), the retention of the last pod, failed probes and deadlines of an activation, and TestRoundToNDigits.
import t from 'tap'
import { knativeDefaults, Kpa } from '#test/bench/autoscaler/laws/knative-kpa.ts'
import { AverageWindow, GreatestWindow } from '#test/bench/autoscaler/laws/knative-window.ts'
import { ScaleToZero, type Status, stepToZero } from '#test/bench/autoscaler/laws/knative-zero.ts'
import { createKnative } from '#test/bench/autoscaler/laws/knative.ts'
import { idleSight } from '#test/helpers/idle-sight.ts'

/** Its whole seconds are a multiple of each granularity of the vectors. */
const startMs = 1_000_000_005_300
const at = (seconds: number) => startMs + seconds * 1000
/** Numbers in rows: `0 1, 2 3`. */
const rows = (text: string) => text.split(', ').map((row) => row.split(' ').map(Number))

type Settings = Partial<typeof knativeDefaults>
/** newTestAutoscaler: with one ready pod. */
const testKpa = (target: number, targetBurstCapacity: number, changed: Settings = {}) => {
  const settings = { ...knativeDefaults, maxUpRate: 10, maxDownRate: 10, ...changed }
  return new Kpa({ ...settings, target, total: target / 0.75, targetBurstCapacity }, { nowMs: startMs, ready: 1 })
}
/** expectedEBC, which is compared with a tolerance of 1. */
const excessOf = (target: number, burst: number, panic: number, ready: number) =>
  burst <= 0 ? burst : Math.floor((target / 0.75) * ready - burst - panic)

t.test('knative: sizes and excess', async (t) => {
  // target, captures of a burst; then seconds, ready pods, stable and panic concurrency, size, since when it panics if given (-1: it does not)
  type Vector = readonly [string, number, number, string, Settings?]
  const cases: readonly Vector[] = [
    ['StableModeIncreaseWithConcurrencyDefault', 10, 101, '0 1 50 10 5, 0 1 100 10 10'],
    ['UnpanicAfterSlowIncrease', 1, 98, '0 10 11 25 25 0, 30 40 30 41 41 0, 62 55 50 56 50 -1'],
    ['ExtendPanicWindow', 1, 98, '0 10 11 25 25 0, 30 40 30 80 80 30'],
    ['StableModeDecrease', 10, 98, '0 8 100 100 10, 0 8 50 50 5'],
    ['StableModeNoTrafficScaleToZero', 10, 75, '0 1 1 0 1, 0 1 0 0 0'],
    [
      'PanicModeExponentialTrackAndStabilize',
      1,
      101,
      '0 1 6 6 6, 0 6 36 36 36 0, 1 36 216 216 216 1, 1 216 1296 1296 1296 1, 2 1296 1296 1296 1296',
    ],
    ['Scale/NoDataAtZeroNoAutoscale', 10, 100, '0 1 0 0 0'],
    ['Scale/StableModeUnlimitedTBC', 181, -1, '0 1 21 26 1'],
    ['Scale/0TBC', 10, 0, '0 1 50 49 5'],
    ['Scale/StableModeNoChange', 10, 100, '0 1 50 50 5'],
    // The first step has the state that the upstream test writes into the fields.
    ['Scale/PanicStableLargerThanPanic', 1, 100, '-5 2 5 5 5 -5, 0 5 50 30 50'],
    ['Scale/PanicStableLessThanPanic', 1, 100, '-5 2 5 5 5 -5, 0 5 20 30 30'],
    ['Scale/StableModeNoChangeAlreadyScaled', 10, 100, '0 5 50 50 5'],
    ['Scale/StableModeIncreaseWithSmallScaleUpRate', 1, 1982, '0 2 3 3.1 3', { maxUpRate: 1.1 }],
    ['Scale/StableModeDecreaseWithSmallScaleDownRate', 10, 1982, '0 100 1 1 90', { maxDownRate: 1.1 }],
    ['Scale/PanicModeDoublePodCount', 10, 84, '0 1 50 100 10'],
    ['PanicThenUnPanicScaleDown', 10, 93, '0 1 100 100 10, 0 10 100 1000 100, 30 10 1 1 100, 61 10 1 1 1'],
    ['RateLimitScaleUp', 10, 61, '0 1 1000 1001 10, 0 10 1000 1001 100'],
    ['RateLimitScaleDown', 10, 61, '0 100 1 1 10, 0 10 1 1 1'],
    ['UseOnePodAsMinimumIfEndpointsNotFound', 10, 81, '0 0 1000 888 10'],
  ]
  for (const [name, target, burst, steps, changed] of cases) {
    const kpa = testKpa(target, burst, changed)
    for (const [seconds = 0, ready = 0, stable = 0, panic = 0, want, panicSeconds] of rows(steps)) {
      const { size, excess } = kpa.scale(at(seconds), { ready, stable, panic })
      t.equal(size, want, `${name} at ${seconds} s`)
      t.ok(Math.abs(excess - excessOf(target, burst, panic, ready)) <= 1, `excess of ${name} at ${seconds} s`)
      if (panicSeconds === undefined) continue
      const sinceMs = kpa.scale(at(seconds), { ready, stable, panic }) && kpa.panicMs
      t.equal(sinceMs, panicSeconds === -1 ? undefined : at(panicSeconds), `panic of ${name} at ${seconds} s`)
    }
  }
})

t.test('knative: a delay before pods go', async (t) => {
  const settings = { panicThreshold: 100, targetBurstCapacity: 0, stableWindowMs: 0 }
  // seconds, concurrency, size
  const cases: readonly (readonly [string, number, string])[] = [
    ['ScaleDownDelay/simple', 300, '2 40 4, 300 0 4, 302 0 0'],
    ['ScaleDownDelay/gradual', 300, '540 40 4, 600 30 4, 660 0 4, 840 0 3, 900 0 0'],
    ['ScaleDownDelayZero', 0, '0 40 4, 0.5 20 2'],
  ]
  for (const [name, delaySeconds, steps] of cases) {
    const kpa = testKpa(10, 0, { ...settings, scaleDownDelayMs: delaySeconds * 1000 })
    for (const [seconds = 0, concurrency = 0, want] of rows(steps)) {
      const load = { ready: 0, stable: concurrency, panic: concurrency }
      t.equal(kpa.scale(at(seconds), load).size, want, `${name} at ${seconds} s`)
    }
  }
})

t.test('knative: starts in panic with more than one pod', async (t) => {
  // TestStartInPanicMode
  const started = (ready: number) => new Kpa({ ...knativeDefaults, target: 100, total: 120 }, { nowMs: startMs, ready })
  t.equal(started(0).panicMs, undefined)
  t.equal(started(1).panicMs, undefined)
  t.equal(started(2).panicMs, startMs)
  t.equal(started(2).scale(startMs, { ready: 2, stable: 0, panic: 0 }).size, 2)
})

t.test('knative: the mean of a window', async (t) => {
  // window and granularity in seconds; then `+` seconds value, or `=` seconds mean. Where upstream compares buckets or their sum, it is
  // the mean of these.
  const cases: readonly (readonly [string, number, number, string])[] = [
    ['Simple, 1 s', 120, 1, '+0 1 +0.1 10 +1 1 +3 1 =3 3.25'],
    ['Simple, 5 s', 120, 5, '+0 1 +3 11 +6 1 =6 6.5'],
    ['Simple, empty', 120, 1, '=0 0'],
    ['ManyReps', 60, 1, '+1 10 +2 15 +3 20 +4 25 +5 30 =5 20'],
    ['ManyRepsWithNonMonotonicalOrder', 60, 1, '+0 10 +3 15 +2 20 +1 25 +4 30 =4 20'],
    ['WindowAverage, first write', 5, 1, '+0 1 =0 1'],
    ['WindowAverage, full', 5, 1, '+0 1 +1 2 +2 3 +3 4 +4 5 =4 3'],
    ['WindowAverage, lag', 5, 1, '+0 1 +1 2 +2 3 +3 4 +4 5 =3.6 3'],
    ['WindowAverage, short hole', 5, 1, '+0 1 +1 2 +2 3 +3 4 +4 5 =6 4'],
    ['WindowAverage, long hole', 5, 1, '+0 1 +1 2 +2 3 +3 4 +4 5 =10 0'],
    ['WindowAverage, write after a hole', 5, 1, '+0 1 +1 2 +2 3 +3 4 +4 5 +6 91 =6 20.6'],
    ['WindowAverage, much later', 5, 1, '+0 1 +4 5 +60 1984 =60 1984'],
    ['WindowAverage, an earlier time', 5, 1, '+60 1984 +57 4 =60 497 +61 5 =61 398.6 +58 10 =61 400.6'],
    ['WindowAverage, too early', 5, 1, '+60 1984 +57 4 +61 5 +58 10 +55 10 =61 400.6 +56 10 =61 400.6'],
    // The vectors have full windows only, in which a write that is too early does not count anyway.
    ['too early, in a window that is not full', 5, 1, '+60 1984 +55 4 =60 1984'],
    ['WindowAverage, after a window', 5, 1, '+60 1984 +57 4 +61 5 +66 10 =66 10'],
    ['DescendingRecord', 5, 1, '+8 5 +7 5 +6 5 +5 5 +4 5 +3 5 +2 5 +1 5 +0 5 =5 5'],
    ['Holes', 5, 1, '+0 1 +1 2 +2 3 +3 4 +4 5 =4 3 +8 2 =8 1.4'],
    ['WindowUpdate3sGranularity', 5, 3, '+0 10 +1 2 +2 3 +3 4 +4 5 +5 6 +6 7 =6 11'],
  ]
  for (const [name, windowSeconds, bucketSeconds, steps] of cases) {
    const window = new AverageWindow(windowSeconds * 1000, bucketSeconds * 1000)
    t.ok(window.isEmpty(startMs), name)
    for (const [, sign, seconds, value] of steps.matchAll(/([+=])(\S+) (\S+)/g)) {
      if (sign === '+') window.record(at(Number(seconds)), Number(value))
      else t.equal(window.average(at(Number(seconds))), Number(value), `${name} at ${seconds} s`)
    }
  }
})

t.test('knative: the greatest value of a window', async (t) => {
  // TestTimedWindowMax: seconds, value; greatest
  const cases: readonly (readonly [string, number])[] = [
    ['0 5', 5],
    ['0 6, 0.5 5', 6],
    ['0 5, 1 8', 8],
    ['0 5, 6 4', 4],
  ]
  for (const [steps, want] of cases) {
    const window = new GreatestWindow(5000, 1000)
    const greatest = rows(steps).map(([seconds = 0, value = 0]) => window.record(at(seconds), value))
    t.equal(greatest.at(-1), want, steps)
  }
})

t.test('knative: the steps to zero', async (t) => {
  // The phase, its seconds, the seconds of the activator in the path; the size if one is applied, and whether a pod is wanted
  type Vector = readonly [string, Status['phase'], number, number, number | undefined, boolean | 'unknown']
  const cases: readonly Vector[] = [
    ['waits to scale to zero (just before idle period)', 'active', 299, 0, 1, true],
    ['waits to scale to zero after idle period', 'active', 300, 0, undefined, false],
    ['waits to scale to zero after idle period; sks in proxy mode', 'active', 300, 3600, undefined, false],
    ['initial scale attained, but now time to scale down', 'active', 120, 0, 1, true],
    ['scale to zero after grace period', 'inactive', 60, 0, 0, false],
    ['waits to scale to zero (just before grace period)', 'inactive', 59, 0, undefined, false],
    ['waits to scale to zero (just before grace period, sks short)', 'inactive', 59, 59, undefined, false],
    ['waits to scale to zero (just before grace period, sks in proxy long)', 'inactive', 59, 60, 0, false],
    [
      'waits to scale to zero while activating until after deadline exceeded',
      'activating',
      300,
      0,
      undefined,
      'unknown',
    ],
  ]
  for (const [name, phase, forSeconds, proxiedSeconds, size, isWanted] of cases) {
    const windows = { stableWindowMs: 300_000, graceMs: 60_000 }
    const step = stepToZero(startMs, { phase, sinceMs: at(-forSeconds) }, windows, proxiedSeconds * 1000)
    t.same(step, { isWanted, ...(size !== undefined && { size }) }, name)
  }
})

t.test('knative: the bounds of a size', async (t) => {
  // Pods, desired if known, least, most, size
  const cases: readonly (readonly [string, number, number | undefined, number, number, number])[] = [
    ['scale down to minScale before grace period', 10, 0, 2, 60, 2],
    ['scales up', 1, 10, 0, 60, 10],
    ['scales up to maxScale', 1, 10, 0, 8, 8],
    ['does not scale up from zero with no metrics', 0, undefined, 0, 60, 0],
    ['scales up from zero to desired one', 0, 1, 0, 60, 1],
    ['scales up from zero to desired high scale', 0, 10, 0, 60, 10],
    ['negative scale does not scale', 12, undefined, 0, 60, 12],
  ]
  for (const [name, pods, desired, min, max, want] of cases) {
    const zero = new ScaleToZero(knativeDefaults, { min, max, size: pods })
    t.equal(
      zero.reconcile(startMs, pods, desired === undefined ? undefined : { size: desired, excess: -1 }),
      want,
      name,
    )
  }
})

/** The times in seconds at which a pool, whose pods are at once ready, gets another size, and these. */
const changes = (loadAt: (seconds: number) => number, untilSeconds: number, settings = knativeDefaults) => {
  const law = createKnative(settings)({ min: 0, max: 20, slots: 1 })
  const found: [number, number][] = []
  let [size, knownMs] = [0, 0]
  for (let nowMs = 0; nowMs <= untilSeconds * 1000; nowMs += law.everyMs) {
    const running = loadAt(nowMs / 1000)
    const next = law.size({ ...idleSight, running, knownMs, nowMs, ready: size })
    knownMs += running * law.everyMs
    if (next !== size) found.push([nowMs / 1000, next])
    size = next
  }
  return found
}

t.test('knative: a capture starts pods at once, two where it needs 1 / 70 % of a slot', async (t) => {
  const law = createKnative()({ min: 0, max: 20, slots: 1 })
  t.equal(law.size(idleSight), 0)
  t.equal(law.size({ ...idleSight, nowMs: 321, waiting: 1 }), 2)
  const wide = createKnative()({ min: 0, max: 20, slots: 2 })
  wide.size(idleSight)
  t.equal(wide.size({ ...idleSight, nowMs: 321, waiting: 1 }), 1)
  t.ok(law.wakesFromZero)
})

t.test('knative: grows by the panic window, holds for the stable window, then goes to zero', async (t) => {
  const load = (seconds: number) => (seconds >= 10 && seconds < 40 ? 7 : 0)
  const found = changes(load, 200)
  t.same(found[0], [10, 2])
  // 7 captures at 70 % of a slot each.
  t.equal(Math.max(...found.map(([, size]) => size)), 10)
  t.ok(found.every(([seconds, size], index) => seconds > 60 || size > (found[index - 1]?.[1] ?? 0)))
  t.same(found.at(-1), [101, 0])
})

t.test('knative: waits for the grace period where the activator is not in the path', async (t) => {
  const load = (seconds: number) => (seconds >= 10 && seconds < 40 ? 7 : 0)
  t.same(changes(load, 200, { ...knativeDefaults, targetBurstCapacity: 0 }).at(-1), [130, 0])
})

t.test('knative: keeps its pods until it has metrics', async (t) => {
  const law = createKnative()({ min: 0, max: 20, slots: 1 })
  const sizes = [0, 1000, 2000, 4000].map((nowMs) =>
    law.size({ ...idleSight, nowMs, ready: 5, running: 5, knownMs: 5 * nowMs }),
  )
  t.same(sizes, [5, 5, 8, 8])
})

t.test('knative: the next report deducts the capture that was reported at once', async (t) => {
  const law = createKnative()({ min: 0, max: 20, slots: 2 })
  const load = { ...idleSight, waiting: 2, starting: 1 }
  law.size(idleSight)
  law.size({ ...load, nowMs: 321, starting: 0 })
  law.size({ ...load, nowMs: 1000, knownMs: 1358 })
  t.equal(law.size({ ...load, nowMs: 2000, knownMs: 3358 }), 1)
})

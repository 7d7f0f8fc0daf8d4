import t from 'tap'
import { decide } from '#controller/decide/decide.ts'
import { followLoad } from '#controller/decide/load.ts'
import { blankMemory, emptyBacklog, type Backlog, type Load, type PoolPolicy } from '#controller/decide/pool.ts'
import { followPrediction, predictedWorkers } from '#controller/decide/predicted-workers.ts'
import { staff } from '#controller/decide/staffing.ts'
import type { Lane } from '#shared/capture/lane.ts'
import { constantLoad, observedPool, observedWorkers, otherPools, poolPolicy } from '#test/helpers/observed-pool.ts'

const { nowMs } = observedPool()
const policy = poolPolicy({ max: 100 })
/** Captures of 1 s at 10 a second, of which 99 % begin within 0.5 s. */
const perMinute = 600
const expected = staff(10, { serviceMs: 1000, waitMs: 500, most: 100 })

const predicting = (predicted: Partial<Record<Lane, number[]>>, intoMinuteMs = 0): Backlog => {
  const { interactive, normal, bulk } = emptyBacklog.lanes
  const { interactive: urgent = [], normal: asynchronous = [] } = predicted
  return {
    ...emptyBacklog,
    atMs: nowMs,
    intoMinuteMs,
    lanes: {
      interactive: { ...interactive, predicted: urgent, accepted: 0 },
      normal: { ...normal, predicted: asynchronous, accepted: 0 },
      bulk: { ...bulk, accepted: 0 },
    },
  }
}
const workers = (backlog: Backlog | 'unknown', overrides: Partial<PoolPolicy> = {}, observed = {}) =>
  predictedWorkers(observedPool({ backlog, ...observed }), nowMs, { ...policy, ...overrides })

t.test('predicted workers: are as many as the predicted load requires', (t) => {
  t.equal(workers(predicting({ interactive: [perMinute] })), expected)
  t.equal(workers(predicting({ interactive: [perMinute] }), { slots: 4 }), Math.ceil(expected / 4))
  t.equal(workers(predicting({ interactive: [0, 0, 0] })), 0)
  t.end()
})

t.test('predicted workers: the lanes are served together, each within its objective', (t) => {
  const both = workers(predicting({ interactive: [perMinute / 2], normal: [perMinute / 2] }))
  t.equal(
    both,
    Math.max(
      staff(5, { serviceMs: 1000, waitMs: 500, most: 100 }),
      staff(10, { serviceMs: 1000, waitMs: 2500, most: 100 }),
    ),
  )
  t.end()
})

t.test('predicted workers: are requested so early that they are ready a minute before', (t) => {
  const at = (intoMinuteMs: number, startMs: number) =>
    workers(predicting({ interactive: [0, 0, perMinute] }, intoMinuteMs), {}, { startMs })
  t.equal(at(56_000, 3000), 0)
  t.equal(at(57_000, 3000), expected)
  t.equal(at(0, 59_000), 0)
  t.equal(at(0, 60_000), expected)
  t.end()
})

t.test('predicted workers: time passes since the count', (t) => {
  const backlog = { ...predicting({ interactive: [0, 0, perMinute] }, 56_000), atMs: nowMs - 1000 }
  t.equal(workers(backlog), expected)
  t.end()
})

t.test('predicted workers: slots of other pools on the queue are subtracted', (t) => {
  const backlog = predicting({ interactive: [perMinute] })
  t.equal(workers(backlog, {}, { otherPools: otherPools(5, 0) }), expected - 5)
  t.equal(workers(backlog, {}, { otherPools: otherPools(50, 0) }), 0)
  t.end()
})

t.test('predicted workers: none without a count, a prediction, or by the policy', (t) => {
  t.equal(workers('unknown'), 0)
  t.equal(workers(emptyBacklog), 0)
  t.equal(workers(predicting({ interactive: [perMinute] }), { isPredicting: false }), 0)
  t.end()
})

t.test('predicted workers: none once captures have not come as predicted for a minute', (t) => {
  const observation = observedPool({ backlog: predicting({ interactive: [perMinute] }) })
  t.equal(predictedWorkers(observation, nowMs - 59_000, policy), expected)
  t.equal(predictedWorkers(observation, nowMs - 60_000, policy), 0)
  t.end()
})

t.test('prediction: captures come as predicted while at least half of them do', (t) => {
  const load = (came: number, predicted: number) => {
    const { interactive, ...others } = constantLoad({ interactive: came })
    return { ...others, interactive: { ...interactive, predicted } }
  }
  t.equal(followPrediction(7, load(5, 10), 9), 9)
  t.equal(followPrediction(7, load(4.9, 10), 9), 7)
  t.equal(followPrediction(7, load(0, 0), 9), 9)
  t.equal(followPrediction(7, undefined, 9), 9)
  t.end()
})

/** Follows a count of each second; `comes`: as many captures arrive as are predicted. */
const followSeconds = (
  from: { readonly load: Load | undefined; readonly lastMs: number },
  { seconds, predicted, comes }: { readonly seconds: number; readonly predicted: number; readonly comes: boolean },
) => {
  let { load, lastMs } = from
  for (let second = 0; second < seconds; second += 1) {
    const atMs = (load?.atMs ?? 0) + 1000
    const accepted = (load?.interactive.accepted ?? 0) + (comes ? predicted / 60 : 0)
    const backlog = predicting({ interactive: [predicted] })
    const lanes = { ...backlog.lanes, interactive: { ...backlog.lanes.interactive, accepted } }
    load = followLoad(load, observedPool({ backlog: { ...backlog, lanes, atMs } }), policy)
    lastMs = followPrediction(lastMs, load, atMs)
  }
  return { load, lastMs, atMs: load?.atMs ?? 0 }
}
const never = { load: undefined, lastMs: Number.NEGATIVE_INFINITY }

t.test('prediction: what was predicted and what came are compared over the same time', (t) => {
  const { load } = followSeconds(never, { seconds: 600, predicted: perMinute, comes: true })
  const after = followSeconds({ load, lastMs: 0 }, { seconds: 60, predicted: 0, comes: false }).load
  if (!after) throw new Error('no load')
  t.ok(Math.abs(after.interactive.predicted - after.interactive.slow) < 0.01)
  t.ok(after.interactive.predicted > 3 && after.interactive.predicted < 7, `${after.interactive.predicted}`)
  t.end()
})

t.test('prediction: an absence ends with the predicted minutes, so that the next occurrence is prepared', (t) => {
  const absent = followSeconds(never, { seconds: 300, predicted: perMinute, comes: false })
  t.ok(absent.atMs - absent.lastMs > 60_000)
  const later = followSeconds(absent, { seconds: 3000, predicted: 0, comes: false })
  t.equal(later.lastMs, later.atMs)
  t.end()
})

t.test('prediction: raises the minimum, within the maximum', (t) => {
  const of = (overrides: Partial<PoolPolicy>, count = 0) =>
    decide(
      observedPool({ backlog: predicting({ interactive: [perMinute] }), workers: observedWorkers(count) }),
      { ...policy, ...overrides },
      { ...blankMemory, lastPredictedMs: nowMs, wants: [] },
    ).decision
  t.match(of({}), { kind: 'scale-up', to: expected, undrain: [], desired: expected, reason: 'predicted' })
  t.match(of({ max: 4 }), { kind: 'scale-up', to: 4, undrain: [], desired: 4, reason: 'predicted' })
  t.match(of({ min: 50 }, 50), { kind: 'hold', desired: 50, reason: 'steady' })
  t.match(of({}, expected), { kind: 'hold', desired: expected, reason: 'predicted' })
  t.end()
})

import t from 'tap'
import { decide } from '#controller/decide/decide.ts'
import { estimateSentence } from '#controller/decide/estimate.ts'
import { blankMemory, emptyBacklog, type Estimate } from '#controller/decide/pool.ts'
import { constantLoad, observedPool, observedWorkers, poolPolicy } from '#test/helpers/observed-pool.ts'

const estimate: Estimate = {
  arrivalsPerSecond: 6.14,
  captureMs: 2000,
  startMs: 3000,
  slots: 12.3,
  waiting: 0,
  required: 17,
  predicted: 0,
}
const sentence = (more: Partial<Estimate>) => estimateSentence({ ...estimate, ...more }, String)

t.test('estimate: one sentence says what needs how many workers, and what is held', async (t) => {
  t.equal(
    sentence({ held: { workers: 19, untilMs: 7 } }),
    '6.1/s × 2.0 s = 12.3 slots need 17 workers; 19 are held until 7',
  )
  t.equal(sentence({ waiting: 40 }), '6.1/s × 2.0 s = 12.3 slots and 40 waiting need 17 workers')
  t.equal(sentence({ predicted: 20 }), '6.1/s × 2.0 s = 12.3 slots need 17 workers; predicted captures need 20')
  t.equal(sentence({ predicted: 5 }), sentence({}), 'a prediction that requires no more is not named')
})

t.test('estimate: a decision has the numbers that it was computed from', async (t) => {
  const { nowMs } = observedPool()
  const policy = poolPolicy({ max: 50 })
  const backlog = { ...emptyBacklog, pending: 3, processing: 12, atMs: nowMs }
  const observation = observedPool({ backlog, workers: observedWorkers(40), serviceMs: 2000, startMs: 4000 })
  const loads = [{ atMs: nowMs - 1000, size: 30 }]
  const memory = { ...blankMemory, wants: loads, loads, peaks: [{ atMs: nowMs - 1, size: 100 }], lastKnownMs: nowMs }
  const { decision } = decide(observation, policy, {
    ...memory,
    load: { ...constantLoad({ normal: 12 }), atMs: nowMs },
  })
  t.match(decision.estimate, {
    arrivalsPerSecond: 6,
    captureMs: 2000,
    startMs: 4000,
    slots: 12,
    waiting: 3,
    predicted: 0,
  })
  t.equal(decision.estimate?.required, decision.desired)
  const { held } = decision.estimate ?? {}
  t.ok(held && held.workers >= 30 && held.workers > decision.desired, JSON.stringify(held))
  t.ok(held && held.untilMs > nowMs, JSON.stringify(held))
  t.notOk(decide(observation, { ...policy, size: 3 }, memory).decision.estimate, 'none of a fixed size')
  t.notOk(decide({ ...observation, workers: 'unknown' }, policy, memory).decision.estimate)
})

import t from 'tap'
import { holdDuringRollout } from '#controller/operator/scale/run-pool.ts'
import type { Decision } from '#controller/pool.ts'

const drain: Decision = { kind: 'drain', pods: ['a'], wanted: 2, reason: 'excess' }

t.test('hold during rollout: no drain while there are more than requested', async (t) => {
  t.strictSame(holdDuringRollout(drain, { hasSurplus: true, isRollingOut: false, isRolloutStalled: false }), {
    kind: 'hold',
    wanted: 2,
    reason: 'starting',
  })
  t.equal(holdDuringRollout(drain, { hasSurplus: false, isRollingOut: true, isRolloutStalled: false }), drain)
})

t.test('hold during rollout: the reason of a held size is the rollout', async (t) => {
  t.strictSame(holdDuringRollout(drain, { hasSurplus: true, isRollingOut: true, isRolloutStalled: false }), {
    kind: 'hold',
    wanted: 2,
    reason: 'rollout',
  })
})

t.test('hold during rollout: a stalled rollout holds no size', async (t) => {
  t.equal(holdDuringRollout(drain, { hasSurplus: true, isRollingOut: true, isRolloutStalled: true }), drain)
})

t.test('hold during rollout: a drain that was held does not turn into a wait for the next step', async (t) => {
  const stepping: Decision = { kind: 'hold', wanted: 2, reason: 'stepping' }
  t.match(holdDuringRollout(stepping, { hasSurplus: true, isRollingOut: true, isRolloutStalled: false }), {
    kind: 'hold',
    reason: 'rollout',
  })
  t.equal(holdDuringRollout(stepping, { hasSurplus: false, isRollingOut: true, isRolloutStalled: false }), stepping)
})

t.test('hold during rollout: every other decision passes', async (t) => {
  for (const decision of [
    { kind: 'stop', pods: ['a'], wanted: 2, reason: 'drained' },
    { kind: 'scale-up', to: 4, undrain: [], wanted: 4, reason: 'load' },
  ] satisfies Decision[])
    t.equal(holdDuringRollout(decision, { hasSurplus: true, isRollingOut: true, isRolloutStalled: false }), decision)
})

import t from 'tap'
import { withoutCrowd } from '#controller/operator/scale/hold-during-rollout.ts'
import type { Decision } from '#controller/pool.ts'

const drain: Decision = { kind: 'drain', pods: ['a'], wanted: 2, reason: 'excess' }

t.test('nobody is told to drain while there are more than asked for', async (t) => {
  t.strictSame(withoutCrowd(drain, { isCrowded: true, isReplacing: false, isHung: false }), {
    kind: 'hold',
    wanted: 2,
    reason: 'starting',
  })
  t.equal(withoutCrowd(drain, { isCrowded: false, isReplacing: true, isHung: false }), drain)
})

t.test('a size that is held because a template is rolled out is said to be', async (t) => {
  t.strictSame(withoutCrowd(drain, { isCrowded: true, isReplacing: true, isHung: false }), {
    kind: 'hold',
    wanted: 2,
    reason: 'rollout',
  })
})

t.test('a rollout that hangs holds no size', async (t) => {
  t.equal(withoutCrowd(drain, { isCrowded: true, isReplacing: true, isHung: true }), drain)
})

t.test('a drain that was held does not turn into a wait for the next step', async (t) => {
  const stepping: Decision = { kind: 'hold', wanted: 2, reason: 'stepping' }
  t.match(withoutCrowd(stepping, { isCrowded: true, isReplacing: true, isHung: false }), {
    kind: 'hold',
    reason: 'rollout',
  })
  t.equal(withoutCrowd(stepping, { isCrowded: false, isReplacing: true, isHung: false }), stepping)
})

t.test('everything else is done in a crowd too', async (t) => {
  for (const decision of [
    { kind: 'stop', pods: ['a'], wanted: 2, reason: 'drained' },
    { kind: 'scale-up', to: 4, undrain: [], wanted: 4, reason: 'load' },
  ] satisfies Decision[])
    t.equal(withoutCrowd(decision, { isCrowded: true, isReplacing: true, isHung: false }), decision)
})

import t from 'tap'
import { createShaping } from '#controller/operator/shaping.ts'
import { KubeError, type Outcome } from '#shared/kube/kube-error.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

const setUp = () => {
  const clock = createHandClock()
  const state = { outcome: undefined as Outcome | undefined, againMs: undefined as number | undefined, isWanted: true }
  const shaped: number[] = []
  const tried: string[] = []
  const failures: string[] = []
  const shaping = createShaping({
    clock,
    shape: async () => {
      shaped.push(clock.nowMs())
      if (state.outcome) throw new KubeError(state.outcome, { message: 'refused because' })
      return state.againMs
    },
    wanted: (name) => (state.isWanted ? poolObject(name) : undefined),
    tried: (name) => tried.push(name),
    failed: (name) => failures.push(name),
  })
  return { clock, state, shaped, tried, failures, shaping }
}

t.test('a refusal is a problem until a try succeeds', async (t) => {
  const { clock, state, shaping, tried, failures } = setUp()
  state.outcome = 'invalid'
  shaping.add('web')
  await clock.advance(0)
  t.equal(shaping.problemOf('uid-web'), 'refused because')
  t.strictSame(failures, ['web'])
  state.outcome = undefined
  await clock.advance(5)
  t.equal(shaping.problemOf('uid-web'), undefined)
  t.strictSame(tried, ['web', 'web'])
})

t.test('what passes by itself is tried again, and nobody has to look', async (t) => {
  for (const outcome of ['unavailable', 'too-many-requests', 'conflict'] as const) {
    const { clock, state, shaping, shaped } = setUp()
    state.outcome = outcome
    shaping.add('web')
    await clock.advance(5)
    t.equal(shaping.problemOf('uid-web'), undefined)
    t.equal(shaped.length, 2)
  }
})

t.test('a pool is looked at again when its shape wants it', async (t) => {
  const { clock, state, shaping, shaped } = setUp()
  state.againMs = 10_000
  shaping.add('web')
  await clock.advance(0)
  state.againMs = undefined
  await clock.advance(60_000)
  t.strictSame(shaped, [0, 10_000])
})

t.test('a pool that is not wanted is left alone', async (t) => {
  const { clock, state, shaping, shaped } = setUp()
  state.isWanted = false
  shaping.add('web')
  await clock.advance(0)
  t.strictSame(shaped, [])
})

t.test('once disposed nothing is tried any more', async (t) => {
  const { clock, shaping, shaped } = setUp()
  await shaping[Symbol.asyncDispose]()
  shaping.add('web')
  await clock.advance(60_000)
  t.strictSame(shaped, [])
})

import t from 'tap'
import { createShaping } from '#controller/operator/apply/child-queue.ts'
import { KubeError, type Outcome } from '#shared/kube/kube-error.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

type State = {
  outcome?: Outcome | undefined
  asked?: { readonly retryAfterSeconds: number }
  during?: () => Promise<void>
  againMs?: number | undefined
  isWanted: boolean
  wish: string
}

const setUp = () => {
  const clock = createHandClock()
  const state: State = { isWanted: true, wish: '1' }
  const shaped: number[] = []
  const tried: string[] = []
  const failures: string[] = []
  const shaping = createShaping({
    clock,
    shape: async () => {
      shaped.push(clock.nowMs())
      await state.during?.()
      if (state.outcome) throw new KubeError(state.outcome, { message: 'refused because', ...state.asked })
      return state.againMs
    },
    wanted: (name) => (state.isWanted ? poolObject(name) : undefined),
    wish: () => state.wish,
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
  t.equal(shaping.problemOf(poolObject('web')), 'refused because')
  t.strictSame(failures, ['web'])
  state.outcome = undefined
  await clock.advance(5)
  t.equal(shaping.problemOf(poolObject('web')), undefined)
  t.strictSame(tried, ['web', 'web'])
})

t.test('what passes by itself is tried again, and nobody has to look', async (t) => {
  for (const outcome of ['unavailable', 'too-many-requests', 'conflict'] as const) {
    const { clock, state, shaping, shaped } = setUp()
    state.outcome = outcome
    shaping.add('web')
    await clock.advance(5)
    t.equal(shaping.problemOf(poolObject('web')), undefined)
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

t.test('what cannot be brought about is not tried more often because somebody goes on asking for it', async (t) => {
  const { clock, state, shaping, shaped } = setUp()
  state.outcome = 'invalid'
  for (let tick = 0; tick < 1200; tick += 1) {
    shaping.add('web')
    await clock.advance(50)
  }
  t.ok(shaped.length <= 15, `${shaped.length} tries in a minute`)
})

t.test('what is asked for while a try fails is what has failed', async (t) => {
  const { clock, state, shaping, shaped } = setUp()
  state.outcome = 'unavailable'
  state.during = async () => shaping.add('web')
  shaping.add('web')
  await clock.advance(60_000)
  t.ok(shaped.length <= 15, `${shaped.length} tries in a minute`)
})

t.test('another wish is tried at once, also one that comes while a try fails', async (t) => {
  const { clock, state, shaping, shaped } = setUp()
  state.outcome = 'invalid'
  shaping.add('web')
  await clock.advance(60_000)
  const before = shaped.length
  state.during = async () => {
    delete state.during
    state.wish = '3'
    shaping.add('web')
  }
  state.wish = '2'
  shaping.add('web')
  await clock.advance(0)
  t.equal(shaped.length - before, 2)
})

t.test('when the server asks for quiet nothing is tried before its time, whatever is wished', async (t) => {
  const { clock, state, shaping, shaped } = setUp()
  state.outcome = 'too-many-requests'
  state.asked = { retryAfterSeconds: 30 }
  for (let second = 0; second < 61; second += 1) {
    state.wish = String(second)
    shaping.add('web')
    await clock.advance(1000)
  }
  t.strictSame(shaped, [0, 30_000, 60_000])
})

t.test('the problem of a pool is not that of an older one of its name', async (t) => {
  const { clock, state, shaping } = setUp()
  state.outcome = 'invalid'
  shaping.add('web')
  await clock.advance(0)
  t.equal(shaping.problemOf(poolObject('web', {}, { metadata: { uid: 'another' } })), undefined)
  state.isWanted = false
  await clock.advance(5)
  t.equal(shaping.problemOf(poolObject('web')), undefined, 'and is forgotten with it')
})

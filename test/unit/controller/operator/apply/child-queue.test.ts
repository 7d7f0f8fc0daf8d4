import t from 'tap'
import { ChildQueue } from '#controller/operator/apply/child-queue.ts'
import { KubeError, type Outcome } from '#shared/kube/kube-error.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

type State = {
  outcome?: Outcome | undefined
  asked?: { readonly retryAfterSeconds: number }
  during?: () => Promise<void>
  againMs?: number | undefined
  isWanted: boolean
  desiredState: string
}

const setUp = () => {
  const clock = createHandClock()
  const state: State = { isWanted: true, desiredState: '1' }
  const applied: number[] = []
  const tried: string[] = []
  const failures: string[] = []
  const queue = new ChildQueue({
    clock,
    apply: async () => {
      applied.push(clock.nowMs())
      await state.during?.()
      if (state.outcome) throw new KubeError(state.outcome, { message: 'refused because', ...state.asked })
      return state.againMs
    },
    wanted: (name) => (state.isWanted ? poolObject(name) : undefined),
    desiredState: () => state.desiredState,
    tried: (name) => tried.push(name),
    failed: (name) => failures.push(name),
  })
  return { clock, state, applied, tried, failures, queue }
}

t.test('child queue: a refusal is a problem until a try succeeds', async (t) => {
  const { clock, state, queue, tried, failures } = setUp()
  state.outcome = 'invalid'
  queue.add('web')
  await clock.advance(0)
  t.equal(queue.problemOf(poolObject('web')), 'refused because')
  t.strictSame(failures, ['web'])
  state.outcome = undefined
  await clock.advance(5)
  t.equal(queue.problemOf(poolObject('web')), undefined)
  t.strictSame(tried, ['web', 'web'])
})

t.test('child queue: a transient failure is retried, and is no problem', async (t) => {
  for (const outcome of ['unavailable', 'too-many-requests', 'conflict'] as const) {
    const { clock, state, queue, applied } = setUp()
    state.outcome = outcome
    queue.add('web')
    await clock.advance(5)
    t.equal(queue.problemOf(poolObject('web')), undefined)
    t.equal(applied.length, 2)
  }
})

t.test('child queue: a pool is reconciled again after the time that its children ask for', async (t) => {
  const { clock, state, queue, applied } = setUp()
  state.againMs = 10_000
  queue.add('web')
  await clock.advance(0)
  state.againMs = undefined
  await clock.advance(60_000)
  t.strictSame(applied, [0, 10_000])
})

t.test('child queue: an unwanted pool is skipped', async (t) => {
  const { clock, state, queue, applied } = setUp()
  state.isWanted = false
  queue.add('web')
  await clock.advance(0)
  t.strictSame(applied, [])
})

t.test('child queue: nothing is tried once disposed', async (t) => {
  const { clock, queue, applied } = setUp()
  await queue[Symbol.asyncDispose]()
  queue.add('web')
  await clock.advance(60_000)
  t.strictSame(applied, [])
})

t.test('child queue: back-off holds however often a failed pool is added', async (t) => {
  const { clock, state, queue, applied } = setUp()
  state.outcome = 'invalid'
  for (let tick = 0; tick < 1200; tick += 1) {
    queue.add('web')
    await clock.advance(50)
  }
  t.ok(applied.length <= 15, `${applied.length} tries in a minute`)
})

t.test('child queue: a pool that is added while its try fails waits for the retry', async (t) => {
  const { clock, state, queue, applied } = setUp()
  state.outcome = 'unavailable'
  state.during = async () => queue.add('web')
  queue.add('web')
  await clock.advance(60_000)
  t.ok(applied.length <= 15, `${applied.length} tries in a minute`)
})

t.test('child queue: another desired state is tried at once, also one that comes while a try fails', async (t) => {
  const { clock, state, queue, applied } = setUp()
  state.outcome = 'invalid'
  queue.add('web')
  await clock.advance(60_000)
  const before = applied.length
  state.during = async () => {
    delete state.during
    state.desiredState = '3'
    queue.add('web')
  }
  state.desiredState = '2'
  queue.add('web')
  await clock.advance(0)
  t.equal(applied.length - before, 2)
})

t.test(
  'child queue: nothing is tried before the time of a throttling server, whatever the desired state',
  async (t) => {
    const { clock, state, queue, applied } = setUp()
    state.outcome = 'too-many-requests'
    state.asked = { retryAfterSeconds: 30 }
    for (let second = 0; second < 61; second += 1) {
      state.desiredState = String(second)
      queue.add('web')
      await clock.advance(1000)
    }
    t.strictSame(applied, [0, 30_000, 60_000])
  },
)

t.test('child queue: the problem of a pool is not that of an older one of its name', async (t) => {
  const { clock, state, queue } = setUp()
  state.outcome = 'invalid'
  queue.add('web')
  await clock.advance(0)
  t.equal(queue.problemOf(poolObject('web', {}, { metadata: { uid: 'another' } })), undefined)
  state.isWanted = false
  await clock.advance(5)
  t.equal(queue.problemOf(poolObject('web')), undefined, 'and is forgotten with it')
})

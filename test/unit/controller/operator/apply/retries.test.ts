import t from 'tap'
import { createRetries } from '#controller/operator/apply/retries.ts'
import { KubeError, type Outcome } from '#shared/kube/kube-error.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'

const setUp = () => {
  const clock = createHandClock()
  const state: { outcome?: Outcome | undefined; retryAfterSeconds?: number; desired: string } = { desired: '1' }
  const tries: number[] = []
  const announced: number[] = []
  const retries = createRetries(clock, (_error, retryMs) => announced.push(retryMs))
  const run = () =>
    retries.run(state.desired, async () => {
      tries.push(clock.nowMs())
      const { outcome, retryAfterSeconds } = state
      const options = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
      if (outcome) throw new KubeError(outcome, { message: 'refused because', ...options })
    })
  /** Runs ten times a second. */
  const runFor = async (seconds: number) => {
    for (let turn = 0; turn < seconds * 10; turn += 1) {
      await run()
      await clock.advance(100)
    }
  }
  return { clock, state, tries, announced, retries, run, runFor }
}

t.test('retries: a refusal is a problem until a try succeeds', async (t) => {
  const { clock, state, retries, run } = setUp()
  state.outcome = 'invalid'
  await run()
  t.equal(retries.problem(), 'refused because')
  t.ok(retries.hasFailed())
  state.outcome = undefined
  await clock.advance(100)
  await run()
  t.equal(retries.problem(), undefined)
  t.notOk(retries.hasFailed())
})

t.test('retries: a transient failure is retried, and is no problem', async (t) => {
  for (const outcome of ['unavailable', 'too-many-requests', 'conflict'] as const) {
    const { clock, state, retries, run, tries } = setUp()
    state.outcome = outcome
    await run()
    await clock.advance(100)
    await run()
    t.equal(retries.problem(), undefined)
    t.equal(tries.length, 2)
  }
})

t.test('retries: the wait doubles up to five minutes, however often run is called', async (t) => {
  const { state, tries, announced, runFor } = setUp()
  state.outcome = 'invalid'
  await runFor(1000)
  t.strictSame(tries.slice(0, 5), [0, 100, 300, 700, 1500])
  t.strictSame(announced.slice(-3), [204_800, 300_000, 300_000])
})

t.test('retries: another desired state is tried at once, but the back-off continues', async (t) => {
  const { state, tries, announced, run, runFor } = setUp()
  state.outcome = 'invalid'
  await runFor(60)
  const before = tries.length
  state.desired = '2'
  await run()
  await run()
  t.equal(tries.length, before + 1)
  t.ok((announced.at(-1) ?? 0) > 60_000)
})

t.test('retries: nothing is sent before the Retry-After of the server, whatever the desired state', async (t) => {
  const { state, tries, clock, run } = setUp()
  state.outcome = 'too-many-requests'
  state.retryAfterSeconds = 30
  for (let second = 0; second < 61; second += 1) {
    state.desired = String(second)
    await run()
    await clock.advance(1000)
  }
  t.strictSame(tries, [0, 30_000, 60_000])
})

t.test('retries: a reset clears the failures', async (t) => {
  const { state, retries, run, tries } = setUp()
  state.outcome = 'invalid'
  await run()
  retries.reset()
  t.equal(retries.problem(), undefined)
  await run()
  t.equal(tries.length, 2)
})

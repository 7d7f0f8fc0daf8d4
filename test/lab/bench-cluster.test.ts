// Runs what `make bench-cluster` measures in the smallest form, and checks that the numbers are plausible.
import t from 'tap'
import { measureOperator } from '#test/bench/measure-operator.ts'
import { measureReactions } from '#test/bench/measure-reactions.ts'
import { implausible } from '#test/helpers/implausible.ts'

t.test('bench: reactions of the operator are plausible', async (t) => {
  const reactions = await measureReactions(t, { scaleRounds: 1, jobRounds: 2, handoverRounds: 1, leaseSeconds: 3 })
  t.strictSame(implausible(reactions), [])
  t.strictSame(
    Object.entries(reactions).map(([name, rounds]) => [name, rounds.length]),
    [
      ['scale', 1],
      ['job', 2],
      ['handoverInOrder', 1],
      ['handoverAfterKill', 1],
    ],
  )
})

t.test(
  'bench: what the operator costs is plausible, and each capture of the burst has one Job and one result',
  async (t) => {
    const workload = { pools: 2, workersEach: 2, liveJobs: 3, idleMs: 1000, burst: 5, nodes: 1, leaseSeconds: 3 }
    const { idle, burst } = await measureOperator(t, workload)
    t.strictSame(implausible(idle, /core|writesPerSecond/), [])
    t.strictSame(implausible(burst, /excesses|endedTwice/), [])
    const { captures, jobs, excesses, endedTwice } = burst
    t.strictSame({ captures, jobs, excesses, endedTwice }, { captures: 5, jobs: 5, excesses: 0, endedTwice: 0 })
  },
)

import t, { type Test } from 'tap'
import { KubeError, outcomeOf } from '#shared/kube/kube-error.ts'
import {
  type Fault,
  type ProxiedOutcome,
  type ProxiedScenario,
  simulateProxied,
} from '#test/helpers/proxied-simulation.ts'
import { seededRandom } from '#test/helpers/pool-simulation.ts'

const seeds = Array.from({ length: 12 }, (_, index) => index + 1)
const burst = Array.from({ length: 60 }, () => 1000)
const small = { max: 10, spares: 0 }

const poisson = (seed: number, of: { count: number; perSecond: number }): number[] => {
  const random = seededRandom(seed)
  let atMs = 1000
  return Array.from({ length: of.count }, () => (atMs += (-Math.log(1 - random()) / of.perSecond) * 1000))
}

/** What must hold whatever happens. */
const holds = (t: Test, { world }: ProxiedOutcome, { spares }: { spares: number }) => {
  t.strictSame(world.violations, [], 'no Job too many at any time')
  t.strictSame(world.unserved(), [], 'nothing waits for ever')
  t.ok(world.created <= world.arrived + world.deaths + spares, 'one Job for each capture')
}

const bursts: Omit<ProxiedScenario, 'seed'> = { arrivals: burst, policy: small, untilMs: 120_000 }
const troubled: Omit<ProxiedScenario, 'seed'> = {
  ...bursts,
  chance: {
    'dies-early': 0.05,
    'dies-serving': 0.05,
    'loses-message': 0.05,
    'loses-request': 0.1,
    'loses-answer': 0.1,
  },
  killedAtMs: [3000, 9000],
  untilMs: 400_000,
}

for (const seed of seeds) {
  t.test(`gives each of 60 captures a Job of its own, 10 at a time, with seed ${seed}`, async (t) => {
    const outcome = await simulateProxied({ ...bursts, seed })
    holds(t, outcome, small)
    t.equal(outcome.world.created, 60)
    t.equal(outcome.world.claimWrites, 60, 'and shows each claim once')
    t.strictSame(outcome.failures, [])
    t.ok(outcome.states.every(({ canStart }) => canStart))
  })

  t.test(`keeps spares on top of what captures need with seed ${seed}`, async (t) => {
    const policy = { max: 50, spares: 3 }
    const arrivals = poisson(seed, { count: 150, perSecond: 3 })
    const outcome = await simulateProxied({ seed, arrivals, policy, untilMs: 100_000 })
    holds(t, outcome, policy)
    t.equal(outcome.world.unfinished().length, 3)
    t.ok(outcome.world.created === 153)
  })

  t.test(`replaces spares whose time is over with seed ${seed}`, async (t) => {
    const policy = { max: 10, spares: 2 }
    const outcome = await simulateProxied({ seed, arrivals: [], policy, spareMs: 10_000, untilMs: 100_000 })
    t.strictSame(outcome.world.violations, [])
    t.ok(outcome.world.created > 10)
  })

  t.test(
    `gets over dying workers, lost messages and requests, and two ends of its own with seed ${seed}`,
    async (t) => {
      holds(t, await simulateProxied({ ...troubled, seed }), small)
    },
  )

  t.test(`tells for how long no Job can start, and goes on once one can, with seed ${seed}`, async (t) => {
    const isImageThere = (atMs: number) => atMs > 100_000
    const outcome = await simulateProxied({ ...bursts, seed, isImageThere, untilMs: 300_000 })
    t.strictSame(outcome.world.violations, [])
    t.strictSame(outcome.world.unserved(), [])
    const stuck = outcome.states.filter(({ canStart }) => !canStart)
    t.ok(stuck.every(({ reason }) => reason === 'image-pull'))
    t.ok((stuck.at(-1)?.forMs ?? 0) > 95_000)
    t.strictSame(
      stuck.map(({ forMs }) => forMs),
      stuck.map(({ forMs }) => forMs).toSorted((one, other) => one - other),
      'without a break',
    )
    t.equal(outcome.states.at(-1)?.canStart, true)
  })

  t.test(`tries a quota again, at once where a Job has made room, with seed ${seed}`, async (t) => {
    const quota = (atMs: number) => (atMs < 60_000 ? 4 : Infinity)
    const outcome = await simulateProxied({ ...bursts, seed, quota, untilMs: 250_000 })
    holds(t, outcome, small)
    t.ok(outcome.states.some(({ reason }) => reason === 'quota'))
    const early = outcome.failures.length
    t.ok(early > 2 && early < 15, `${early} refusals in a minute`)
  })
}

const violates = async (scenario: Omit<ProxiedScenario, 'seed'>, fault: Fault): Promise<ProxiedOutcome[]> => {
  const outcomes = await Promise.all(seeds.map((seed) => simulateProxied({ ...scenario, seed, fault })))
  return outcomes.filter(({ world }) => world.violations.length > 0)
}
const isSome = (t: Test, outcomes: readonly unknown[]) => t.not(outcomes.length, 0)

t.test('the simulation finds a depth that is older than the Jobs', async (t) =>
  isSome(t, await violates(bursts, { depthFirst: true })),
)

t.test('the simulation finds Jobs that are forgotten until they come up', async (t) => {
  const observe: Fault['observe'] = (honest) => async () => {
    const seen = await honest()
    return seen.jobs === 'unknown' ? seen : { ...seen, jobs: seen.jobs.filter(({ state }) => state !== 'coming') }
  }
  isSome(t, await violates({ ...bursts, untilMs: 3000 }, { observe }))
})

t.test('the simulation finds captures that are counted although they are being served', async (t) => {
  const observe: Fault['observe'] = (honest) => async () => {
    const seen = await honest()
    if (seen.jobs === 'unknown') return seen
    return { ...seen, jobs: seen.jobs.map((job) => (job.state === 'serving' ? { ...job, state: 'spent' } : job)) }
  }
  isSome(t, await violates(bursts, { observe }))
})

t.test('the simulation finds a runner that trusts its late copy alone', async (t) => {
  const runner: Fault['runner'] = (real, world) => ({
    list: async () => {
      const roster = await real.list()
      return { ...roster, jobs: roster.jobs.filter(({ name }) => world.cluster.jobs.get(`jobs/${name}`)) }
    },
    create: (count) => real.create(count),
    claim: (name, captureId) => real.claim(name, captureId),
    giveUp: (name) => real.giveUp(name),
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  })
  isSome(t, await violates(bursts, { runner }))
})

t.test('the simulation finds a lost answer that is taken for a refusal', async (t) => {
  const api: Fault['api'] = (real) => ({
    ...real,
    create: async (of, object, given) => {
      try {
        return await real.create(of, object, given)
      } catch (thrown) {
        throw outcomeOf(thrown) === 'unavailable' ? new KubeError('conflict', { message: 'not done' }) : thrown
      }
    },
  })
  isSome(t, await violates({ ...bursts, chance: { 'loses-answer': 0.2 } }, { api }))
})

t.test('the simulation finds a successor that does not ask which Jobs there are', async (t) => {
  const api: Fault['api'] = (real) => ({ ...real, list: async () => ({ items: [], resourceVersion: '1' }) })
  const runs = await violates({ ...bursts, killedAtMs: [1060], restartMs: 1 }, { api })
  isSome(t, runs)
})

t.test('the simulation finds a controller that gives up', async (t) => {
  const runner: Fault['runner'] = (real) => {
    let hasFailed = false
    return {
      list: () => real.list(),
      create: async (count) => {
        if (hasFailed) return
        hasFailed = true
        await real.create(count)
      },
      claim: (name, captureId) => real.claim(name, captureId),
      giveUp: (name) => real.giveUp(name),
      [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
    }
  }
  const { world } = await simulateProxied({ ...bursts, seed: 1, fault: { runner } })
  isSome(t, world.unserved())
})

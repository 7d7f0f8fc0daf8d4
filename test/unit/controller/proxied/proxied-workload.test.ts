import t, { type Test } from 'tap'
import type { ProxiedObservation } from '#controller/proxied/proxied.ts'
import { proxiedWorkload } from '#controller/proxied/proxied-workload.ts'
import { createJobReports } from '#controller/proxied/job-reports.ts'
import { runLoop } from '#controller/loop/loop.ts'
import type { PoolStateMessage } from '#shared/queue/messages.ts'
import { KubeError, outcomeOf } from '#shared/kube/kube-error.ts'
import {
  type Fault,
  type ProxiedOutcome,
  type ProxiedScenario,
  simulateProxied,
} from '#test/helpers/proxied-simulation.ts'
import { seededRandom } from '#test/helpers/pool-simulation.ts'

const empty: ProxiedObservation = {
  nowMs: 0,
  jobs: [],
  depth: { waiting: 0, inFlight: 0 },
  backlog: 'unknown',
  claims: [],
  starts: { ready: 0, failed: 0, last: undefined },
}

/** Runs the real loop over these observations without pause; returns its calls and published states. */
const run = async (observation: readonly Partial<ProxiedObservation>[], isPaused = false) => {
  const stop = new AbortController()
  const calls: string[] = []
  const states: PoolStateMessage[] = []
  const left = observation.map((each, index) => ({ ...empty, nowMs: index * 1000, ...each }))
  const failures: Error[] = []
  const workload = proxiedWorkload({
    runner: {
      list: async () => ({ jobs: [], unclaimed: [], failed: 0, last: undefined }),
      create: async (count) => void calls.push(`create ${count}`),
      claim: async (job, captureId) => {
        calls.push(`claim ${job} ${captureId}`)
        if (job === 'broken') throw new Error('planted')
      },
      giveUp: async (job) => void calls.push(`give up ${job}`),
    },
    reports: createJobReports(() => 0),
    subscription: { backlog: () => 'unknown', heartbeats: new Map(), listeningMs: () => 0 },
    readDepth: async () => ({ waiting: 0, inFlight: 0 }),
    now: () => 0,
    policy: () => ({ isPaused, max: 10, spares: 0, revision: 'new' }),
    publishState: (state) => void states.push(state),
  })
  await runLoop(
    {
      ...workload,
      observe: async () => left.shift() ?? empty,
      summarize: () => ({ status: undefined, isCalm: false }),
    },
    {
      wakeup: { wait: async () => (left.length === 0 ? stop.abort() : undefined) },
      timing: { tickMs: 1000, limitMs: 1000 },
      report: () => {},
      failed: (error) => void failures.push(error),
      took: () => {},
    },
    stop.signal,
  )
  return { calls, states, failures }
}

t.test(
  'proxied workload: creates Jobs, and calls create even with nothing to create, to check unconfirmed ones',
  async (t) => {
    const { calls } = await run([{ depth: { waiting: 3, inFlight: 0 } }, {}])
    t.strictSame(calls, ['create 3', 'create 0'])
  },
)

t.test(
  'proxied workload: creates nothing while the Jobs are unknown or the pool is paused, but records claims',
  async (t) => {
    const claims = [{ job: 'a', captureId: 'c' }]
    t.strictSame((await run([{ jobs: 'unknown' }])).calls, [])
    t.strictSame((await run([{ claims, depth: { waiting: 3, inFlight: 0 } }], true)).calls, ['claim a c'])
  },
)

t.test('proxied workload: gives up stuck Jobs of an old revision, and continues after a failed claim', async (t) => {
  const trouble = { reason: 'image-pull', message: '', forMs: 1000 } as const
  const { calls, failures } = await run([
    {
      jobs: [{ name: 'stuck', state: 'stuck', revision: 'old', trouble }],
      claims: [{ job: 'broken', captureId: 'c' }],
    },
  ])
  t.strictSame(calls, ['create 0', 'give up stuck', 'claim broken c'])
  t.match(failures, [{ message: 'planted' }])
})

t.test(
  'proxied workload: publishes each second whether Jobs can start, changes at once, and nothing while unknown',
  async (t) => {
    const failed = { starts: { ready: 0, failed: 1, last: { reason: 'quota', message: '' } } } as const
    const { states } = await run([
      { nowMs: 0 },
      { nowMs: 500 },
      { nowMs: 900 },
      { nowMs: 1000, ...failed },
      { nowMs: 1100, ...failed, jobs: 'unknown' },
      { nowMs: 2000, ...failed, jobs: 'unknown' },
    ])
    t.match(states, [
      { pool: 'proxied', canStart: true, forMs: 0, reason: 'steady' },
      { canStart: true, forMs: 900 },
      { canStart: false, forMs: 0, reason: 'quota' },
    ])
    t.equal(states.length, 3)
  },
)

const seeds = Array.from({ length: 8 }, (_, index) => index + 1)
const burst = Array.from({ length: 60 }, () => 1000)
const small = { max: 10, spares: 0 }

const poisson = (seed: number, of: { count: number; perSecond: number }): number[] => {
  const random = seededRandom(seed)
  let atMs = 1000
  return Array.from({ length: of.count }, () => (atMs += (-Math.log(1 - random()) / of.perSecond) * 1000))
}

/** Invariants of every scenario. */
const holds = (t: Test, { world }: ProxiedOutcome, { spares }: { spares: number }) => {
  t.strictSame(world.violations, [], 'no excess Jobs at any time')
  t.strictSame(world.unserved(), [], 'no capture waits forever')
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
  untilMs: 250_000,
}

for (const seed of seeds) {
  t.test(`proxied workload: gives each of 60 captures its own Job, 10 at a time, with seed ${seed}`, async (t) => {
    const outcome = await simulateProxied({ ...bursts, seed })
    holds(t, outcome, small)
    t.equal(outcome.world.created, 60)
    t.equal(outcome.world.claimWrites, 60, 'each claim is recorded once')
    t.strictSame(outcome.failures, [])
    t.ok(outcome.states.every(({ canStart }) => canStart))
  })

  t.test(`proxied workload: keeps spares on top of what captures need, with seed ${seed}`, async (t) => {
    const policy = { max: 50, spares: 3 }
    const arrivals = poisson(seed, { count: 150, perSecond: 3 })
    const outcome = await simulateProxied({ seed, arrivals, policy, untilMs: 100_000 })
    holds(t, outcome, policy)
    t.equal(outcome.world.unfinished().length, 3)
    t.ok(outcome.world.created === 153)
  })

  t.test(`proxied workload: replaces expired spares, with seed ${seed}`, async (t) => {
    const policy = { max: 10, spares: 2 }
    const outcome = await simulateProxied({ seed, arrivals: [], policy, spareMs: 10_000, untilMs: 60_000 })
    t.strictSame(outcome.world.violations, [])
    t.ok(outcome.world.created > 6)
  })

  t.test(
    `proxied workload: recovers from dying workers, lost messages and requests, and two restarts, with seed ${seed}`,
    async (t) => {
      holds(t, await simulateProxied({ ...troubled, seed }), small)
    },
  )

  t.test(
    `proxied workload: publishes for how long no Job could start, and continues once one can, with seed ${seed}`,
    async (t) => {
      const isImageThere = (atMs: number) => atMs > 60_000
      const outcome = await simulateProxied({ ...bursts, seed, isImageThere, untilMs: 180_000 })
      t.strictSame(outcome.world.violations, [])
      t.strictSame(outcome.world.unserved(), [])
      const stuck = outcome.states.filter(({ canStart }) => !canStart)
      t.ok(stuck.every(({ reason }) => reason === 'image-pull'))
      t.ok((stuck.at(-1)?.forMs ?? 0) > 55_000)
      t.strictSame(
        stuck.map(({ forMs }) => forMs),
        stuck.map(({ forMs }) => forMs).toSorted((one, other) => one - other),
        'without interruption',
      )
      t.equal(outcome.states.at(-1)?.canStart, true)
    },
  )

  t.test(`proxied workload: reports no trouble while pods are created one by one, with seed ${seed}`, async (t) => {
    const policy = { max: 400, spares: 0 }
    const arrivals = Array.from({ length: 300 }, (_, index) => 1000 + (index * 5000) / 300)
    const outcome = await simulateProxied({ seed, arrivals, policy, podsPerSecond: 8, untilMs: 60_000 })
    holds(t, outcome, policy)
    t.strictSame(
      outcome.states.filter(({ canStart }) => !canStart),
      [],
    )
  })

  t.test(
    `proxied workload: retries after a quota refusal, at once when a Job has ended, with seed ${seed}`,
    async (t) => {
      const quota = (atMs: number) => (atMs < 40_000 ? 4 : Infinity)
      const outcome = await simulateProxied({ ...bursts, seed, quota, untilMs: 160_000 })
      holds(t, outcome, small)
      t.ok(outcome.states.some(({ reason }) => reason === 'quota'))
      const early = outcome.failures.length
      t.ok(early > 2 && early < 15, `${early} refusals in forty seconds`)
    },
  )
}

const violates = async (scenario: Omit<ProxiedScenario, 'seed'>, fault: Fault): Promise<ProxiedOutcome[]> => {
  const outcomes = await Promise.all(seeds.map((seed) => simulateProxied({ ...scenario, seed, fault })))
  return outcomes.filter(({ world }) => world.violations.length > 0)
}
const isSome = (t: Test, outcomes: readonly unknown[]) => t.not(outcomes.length, 0)

t.test('proxied workload: the simulation detects a depth read before the Jobs', async (t) =>
  isSome(t, await violates(bursts, { depthFirst: true })),
)

t.test('proxied workload: the simulation detects Jobs that are ignored until they are ready', async (t) => {
  const observe: Fault['observe'] = (honest) => async () => {
    const observation = await honest()
    return observation.jobs === 'unknown'
      ? observation
      : { ...observation, jobs: observation.jobs.filter(({ state }) => state !== 'coming') }
  }
  isSome(t, await violates({ ...bursts, untilMs: 3000 }, { observe }))
})

t.test('proxied workload: the simulation detects captures counted although they are being served', async (t) => {
  const observe: Fault['observe'] = (honest) => async () => {
    const observation = await honest()
    if (observation.jobs === 'unknown') return observation
    return {
      ...observation,
      jobs: observation.jobs.map((job) => (job.state === 'serving' ? { ...job, state: 'spent' } : job)),
    }
  }
  isSome(t, await violates(bursts, { observe }))
})

t.test('proxied workload: the simulation detects a runner that uses only its stale cache', async (t) => {
  const runner: Fault['runner'] = (real, world) => ({
    list: async () => {
      const roster = await real.list()
      return { ...roster, jobs: roster.jobs.filter(({ name }) => world.cluster.jobs.get(`jobs/${name}`)) }
    },
    create: (count) => real.create(count),
    claim: (name, captureId) => real.claim(name, captureId),
    giveUp: (name) => real.giveUp(name),
  })
  isSome(t, await violates(bursts, { runner }))
})

t.test('proxied workload: the simulation detects a lost response treated as a refusal', async (t) => {
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

t.test('proxied workload: the simulation detects a successor that does not list existing Jobs', async (t) => {
  const api: Fault['api'] = (real) => ({ ...real, list: async () => ({ items: [], resourceVersion: '1' }) })
  const runs = await violates({ ...bursts, killedAtMs: [1060], restartMs: 1 }, { api })
  isSome(t, runs)
})

t.test('proxied workload: the simulation detects a controller that gives up', async (t) => {
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
    }
  }
  const { world } = await simulateProxied({ ...bursts, seed: 1, fault: { runner } })
  isSome(t, world.unserved())
})

import t, { type Test } from 'tap'
import { decide } from '#controller/decide/decide.ts'
import type { Decide, Decision, Observation, PoolPolicy } from '#controller/decide/pool.ts'
import { logNormal, poisson, seededRandom } from '#cli/simulation/random.ts'
import { type Outcome, type Scenario, simulatePool } from '#test/helpers/pool-simulation.ts'
import { poolPolicy } from '#test/helpers/observed-pool.ts'

const seeds = [1, 2, 3, 4, 5]
const minuteMs = 60_000
const policy = poolPolicy({ max: 40 })

const simulate = (
  seed: number,
  scenario: Pick<Scenario, 'untilMs'> & Partial<Scenario> & { load: (random: () => number) => number[] },
) => {
  const random = seededRandom(seed)
  return simulatePool({
    policy,
    arrivals: scenario.load(random),
    serviceMs: () => logNormal(random, 1000, 0.3),
    startMs: () => 2000 + 3000 * random(),
    ...scenario,
  })
}

const sizes = ({ moments }: Outcome) => moments.map(({ active }) => active)
const ended = ({ moments }: Outcome) => moments.findLast(({ known }) => known > 0)?.atMs ?? 0

/** How often the pool changed between growing and shrinking. */
const turns = (outcome: Outcome): number => {
  const steps = sizes(outcome).flatMap((size, index, all) => {
    const step = size - (all[index - 1] ?? size)
    return step === 0 ? [] : [Math.sign(step)]
  })
  return steps.filter((step, index) => index > 0 && step !== steps[index - 1]).length
}

/** Moments that required more than two workers, and two slots for each capture that was known at one time of the last four minutes. */
const excessive = ({ moments }: Outcome, rules: PoolPolicy) =>
  moments.filter(({ decision }, index) => {
    const recent = moments.slice(Math.max(0, index - 240), index + 1)
    const peak = Math.max(...recent.map(({ known, counted }) => Math.max(known, counted)))
    return decision.desired > Math.max(rules.min, Math.ceil((2 * peak) / rules.slots) + rules.buffer + 2)
  })

/** Moments above the minimum after four hold windows plus ten seconds per worker since the work ended. */
const late = (outcome: Outcome, rules: PoolPolicy) => {
  const removed = Math.max(...sizes(outcome)) - rules.min
  const dueMs = ended(outcome) + 4 * rules.holdMs + removed * 10_000
  return outcome.moments.filter(({ atMs, active }) => atMs > dueMs && active > rules.min)
}

const holdsAlways = (t: Test, outcome: Outcome, rules: PoolPolicy) => {
  t.strictSame(excessive(outcome, rules), [], 'the desired size never exceeds the need')
  t.equal(outcome.interrupted, 0, 'no running capture is stopped')
  t.equal(outcome.aborted, 0, 'no starting worker is stopped')
  const outside = outcome.moments.slice(1).filter(({ active }) => active < rules.min || active > rules.max)
  t.strictSame(outside, [], 'the size stays within its bounds')
}

const isBackAtMinimum = (t: Test, outcome: Outcome, rules: PoolPolicy) =>
  t.strictSame(late(outcome, rules), [], 'back at the minimum within its time')

/** After a first capture, with which the long mean begins: until that is complete, what is known bounds it. */
const burstMs = 100_000
const burst = () => [1000, ...Array.from({ length: 200 }, () => burstMs)]

/** The real decision with one fault, to test that the checks find it. */
const faulty =
  (fault: (decision: Decision, observation: Observation) => Decision): Decide =>
  (observation, rules, memory) => {
    const real = decide(observation, rules, memory)
    return { ...real, decision: fault(real.decision, observation) }
  }

t.test('controller simulation: the checks find planted faults', (t) => {
  const scenario = { load: burst, untilMs: 12 * minuteMs }
  const greedy = faulty((decision) => ({ ...decision, desired: 3 * decision.desired }))
  t.not(excessive(simulate(1, { ...scenario, decide: greedy }), policy).length, 0)
  const rash = faulty((decision, { workers }) => {
    const busy = workers === 'unknown' ? [] : workers.filter((worker) => worker.busy > 0)
    return decision.kind === 'drain' ? { ...decision, kind: 'stop', pods: busy.map(({ pod }) => pod) } : decision
  })
  const hasty = { ...policy, holdMs: 1, drainStepMs: 1 }
  const load = (random: () => number) => poisson(random, { fromMs: 0, toMs: 5 * minuteMs, perSecond: 4 })
  t.not(simulate(1, { load, untilMs: 5 * minuteMs, policy: hasty, decide: rash }).interrupted, 0)
  t.ok(turns(simulate(1, { load, untilMs: 5 * minuteMs, policy: hasty })) > 20)
  const stubborn = faulty((decision) => ({ kind: 'hold', desired: decision.desired, reason: 'holding' }))
  const growing: Decide = (observation, rules, memory) =>
    observation.nowMs < burstMs + 10_000 ? decide(observation, rules, memory) : stubborn(observation, rules, memory)
  t.not(late(simulate(1, { ...scenario, decide: growing }), policy).length, 0)
  t.end()
})

for (const seed of seeds) {
  t.test(`controller simulation: serves a burst of 200 captures of one second, seed ${seed}`, (t) => {
    const outcome = simulate(seed, { load: burst, untilMs: 12 * minuteMs })
    holdsAlways(t, outcome, policy)
    isBackAtMinimum(t, outcome, policy)
    const soon = outcome.moments.find(({ atMs }) => atMs >= burstMs + 6000)
    t.ok(soon && soon.ready >= 3, 'at least three workers are up six seconds later')
    t.equal(outcome.waitsMs.length, 201)
    t.equal(turns(outcome), 1, 'up once, down once')
    t.end()
  })

  t.test(`controller simulation: serves the burst with at most four workers, seed ${seed}`, (t) => {
    const small = { ...policy, max: 4 }
    const outcome = simulate(seed, { load: burst, policy: small, untilMs: 12 * minuteMs })
    holdsAlways(t, outcome, small)
    isBackAtMinimum(t, outcome, small)
    t.equal(Math.max(...sizes(outcome)), 4)
    t.equal(turns(outcome), 1, 'up once, down once')
    t.end()
  })

  t.test(`controller simulation: scales from zero and back to zero, seed ${seed}`, (t) => {
    const none = { ...policy, min: 0, slots: 4 }
    const load = () => Array.from({ length: 50 }, () => 20_000)
    const outcome = simulate(seed, { load, policy: none, untilMs: 5 * minuteMs })
    holdsAlways(t, outcome, none)
    isBackAtMinimum(t, outcome, none)
    t.ok(outcome.moments.filter(({ decision }) => decision.kind === 'scale-up').length <= 2, 'in two steps at most')
    t.end()
  })

  t.test(`controller simulation: does not oscillate under a steady load, seed ${seed}`, (t) => {
    const untilMs = 30 * minuteMs
    const load = (random: () => number) => poisson(random, { fromMs: 0, toMs: untilMs, perSecond: 4 })
    const outcome = simulate(seed, { load, untilMs })
    holdsAlways(t, outcome, policy)
    const settled = { ...outcome, moments: outcome.moments.filter(({ atMs }) => atMs > 2 * minuteMs) }
    t.ok(Math.min(...sizes(settled)) >= 5, 'never less than the load')
    t.ok(Math.max(...sizes(settled)) <= 16, 'never more than twice the staffing')
    t.ok(turns(settled) <= 2 * 28, 'changes direction at most twice a minute')
    const overdue = outcome.waitsMs.filter((waitMs) => waitMs > policy.objectivesMs.interactive).length
    t.ok(overdue < outcome.waitsMs.length / 100, 'the queue-wait objective holds for 99 of 100')
    t.end()
  })

  t.test(`controller simulation: follows a flash crowd up and down, seed ${seed}`, (t) => {
    const load = (random: () => number) => [
      ...poisson(random, { fromMs: 0, toMs: 5 * minuteMs, perSecond: 1 }),
      ...poisson(random, { fromMs: 5 * minuteMs, toMs: 7 * minuteMs, perSecond: 20 }),
    ]
    const outcome = simulate(seed, { load, untilMs: 20 * minuteMs })
    holdsAlways(t, outcome, policy)
    isBackAtMinimum(t, outcome, policy)
    t.ok(Math.max(...sizes(outcome)) >= 20)
    t.end()
  })

  t.test(`controller simulation: does nothing while idle, seed ${seed}`, (t) => {
    const outcome = simulate(seed, { load: () => [], untilMs: 10 * minuteMs })
    holdsAlways(t, outcome, policy)
    t.equal(outcome.moments.filter(({ decision }) => decision.kind !== 'hold').length, 1, 'only the first start')
    t.end()
  })

  t.test(`controller simulation: holds its size while the ledger sends no counts, seed ${seed}`, (t) => {
    const load = () => Array.from({ length: 100 }, () => 20_000)
    const isSilent = (atMs: number) => atMs > 30_000 && atMs < 5 * minuteMs
    const outcome = simulate(seed, { load, untilMs: 12 * minuteMs, ledgerSilent: isSilent })
    const deaf = outcome.moments.filter(({ atMs }) => atMs > 36_000 && atMs < 5 * minuteMs)
    t.equal(new Set(deaf.map(({ active }) => active)).size, 1)
    t.ok((deaf[0]?.active ?? 0) > policy.min)
    t.ok(deaf.every(({ decision }) => decision.kind === 'freeze'))
    t.equal(sizes(outcome).at(-1), policy.min, 'shrinks once counts arrive again')
    t.end()
  })
}

t.test('controller simulation: with idle cores the pool grows for any waiting capture at once', (t) => {
  const simulated = (more: Partial<Scenario> & { load?: () => number[] }, idleCores: number, max = 4) => {
    const outcome = simulate(1, {
      load: () => [],
      policy: { ...policy, max, idleCores, objectivesMs: { ...policy.objectivesMs, interactive: 3000 } },
      startMs: () => 2000,
      serviceMs: () => 180,
      untilMs: 12_000,
      ...more,
    })
    return { captures: outcome.waitsMs.length, workers: Math.max(...sizes(outcome)) }
  }
  const alone = simulated({ callers: 1 }, 2)
  t.equal(alone.workers, 1, 'one caller keeps one worker')
  const both = simulated({ callers: 2 }, 2)
  t.equal(both.workers, 2)
  t.ok(both.captures > 1.8 * alone.captures, `${both.captures} captures for two callers, ${alone.captures} for one`)
  const few = { load: () => [5000, 5000, 5000] }
  t.equal(simulated(few, 0).workers, 1, 'without idle cores, captures within the allowed wait start no worker')
  t.equal(simulated(few, 2).workers, 2)
  t.equal(simulated(few, 8).workers, 3, 'one for each capture')
  t.equal(simulated(few, 2, 1).workers, 1, 'none above the maximum')
  t.end()
})

for (const seed of seeds) {
  t.test(`controller simulation: on one machine the pool is at its minimum 75 s after a burst, seed ${seed}`, (t) => {
    const machine = poolPolicy({ max: 4, idleCores: 4, holdsLong: false })
    // A burst after ten minutes with a capture every two seconds, which is a load that chance explains.
    const load = () => [
      ...Array.from({ length: 300 }, (_, index) => index * 2000),
      ...Array.from({ length: 40 }, () => 600_000),
    ]
    const outcome = simulate(seed, { policy: machine, load, untilMs: 15 * minuteMs })
    t.equal(Math.max(...sizes(outcome)), machine.max)
    const later = outcome.moments.filter(({ atMs }) => atMs > ended(outcome) + 75_000)
    t.ok(later.length > 0 && later.every(({ active }) => active === machine.min))
    t.end()
  })
}

t.test('controller simulation: captures on draining workers count as served; the pool does not regrow', (t) => {
  // Each of five workers has one long capture left. Three of them drain; the free slots of the others suffice for more.
  const firstMs = 20_000
  // The burst no longer counts as a load.
  const laterMs = 400_000
  const simulated = (deciding: Decide) => {
    let begun = 0
    const { moments } = simulate(1, {
      load: () => [...Array.from({ length: 20 }, () => firstMs), laterMs, laterMs, laterMs],
      policy: { ...policy, slots: 4, holdMs: 5000, drainStepMs: 1000 },
      startMs: () => 2000,
      serviceMs: () => {
        begun += 1
        return begun > 20 || begun % 4 === 1 ? 600_000 : 2000
      },
      untilMs: 420_000,
      decide: deciding,
    })
    const active = moments.filter(({ atMs }) => atMs >= laterMs).map((moment) => moment.active)
    return { before: active[0] ?? 0, after: Math.max(...active) }
  }
  t.same(simulated(decide), { before: 2, after: 2 })
  const forgetful: Decide = ({ workers, ...observation }, rules, memory) => {
    const left =
      workers === 'unknown' ? workers : workers.map((each) => (each.state === 'draining' ? { ...each, busy: 0 } : each))
    return decide({ ...observation, workers: left }, rules, memory)
  }
  const { before, after } = simulated(forgetful)
  t.ok(after > before, `a decision without them grows from ${before} to ${after}`)
  t.end()
})

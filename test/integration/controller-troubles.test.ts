import t, { type Test } from 'tap'
import { decide } from '#controller/decide/decide.ts'
import type { Decide, Decision, Observation, PoolPolicy, ObservedWorker } from '#controller/decide/pool.ts'
import { logNormal, poisson, seededRandom } from '#cli/simulation/random.ts'
import { type Outcome, type Scenario, simulatePool } from '#test/helpers/pool-simulation.ts'
import { poolPolicy } from '#test/helpers/observed-pool.ts'

const seeds = [1, 2, 3, 4, 5]
const minuteMs = 60_000
const untilMs = 20 * minuteMs
// Unlimited, as on Kubernetes, which handles failed starts itself.
const policy = poolPolicy({ max: 12, startLimitMs: Infinity, startMaxMs: Infinity })

const simulate = (seed: number, scenario: Partial<Scenario> & { load: (random: () => number) => number[] }) => {
  const random = seededRandom(seed)
  return simulatePool({
    policy,
    untilMs,
    arrivals: scenario.load(random),
    serviceMs: () => logNormal(random, 1000, 0.3),
    startMs: () => 2000 + 3000 * random(),
    ...scenario,
  })
}

/** Four captures per second for ten minutes, then none. */
const busyHalf = (random: () => number) => poisson(random, { fromMs: 0, toMs: 10 * minuteMs, perSecond: 4 })

/** Moments that request more workers than the maximum. */
const runaways = ({ moments }: Outcome, most: number) => moments.filter(({ required }) => required > most)

/** Moments that drain good workers while others are stuck or refused. */
const wrongDrains = ({ moments }: Outcome) =>
  moments.filter(({ decision, stuck, refused }) => decision.kind === 'drain' && stuck + refused > 0)

/** Moments with a decision other than hold or freeze. */
const acts = (outcome: Outcome, period: { fromMs: number; toMs: number }) =>
  outcome.moments.filter(
    ({ atMs, decision: { kind } }) =>
      atMs >= period.fromMs && atMs < period.toMs && kind !== 'hold' && kind !== 'freeze',
  )

const holdsAlways = (t: Test, outcome: Outcome, rules: PoolPolicy) => {
  t.strictSame(runaways(outcome, rules.max), [], 'never requests more than the maximum')
  t.strictSame(wrongDrains(outcome), [], 'drains no worker while others are stuck or refused')
  t.equal(outcome.interrupted, 0, 'no running capture is stopped')
  t.equal(outcome.aborted, 0, 'no starting worker is stopped')
}

const isAtRest = (t: Test, outcome: Outcome, size: number) => {
  const { ready, required, stuck } = outcome.moments.at(-1) ?? { ready: -1, required: -1, stuck: -1 }
  t.strictSame({ ready, asked: required, stuck }, { ready: size, asked: size, stuck: 0 }, 'ends at the expected size')
}

const sees =
  (change: (workers: readonly ObservedWorker[]) => readonly ObservedWorker[]) => (observation: Observation) =>
    observation.workers === 'unknown' ? observation : { ...observation, workers: change(observation.workers) }

const stuckIn = ({ workers }: Observation) =>
  workers === 'unknown' ? [] : workers.filter(({ state }) => state === 'stuck')

t.test('controller troubles: the checks find planted faults', (t) => {
  const allStuck = { load: busyHalf, cannotStart: () => true, untilMs: 2 * minuteMs }
  const blind = sees((workers) => workers.filter(({ state }) => state !== 'stuck'))
  const eager: Decide = (observation, rules, memory) => {
    const next = decide(blind(observation), rules, memory)
    if (next.decision.kind !== 'scale-up') return next
    return { ...next, decision: { ...next.decision, to: next.decision.to + stuckIn(observation).length } }
  }
  t.not(
    runaways(simulate(1, { ...allStuck, decide: eager }), policy.max).length,
    0,
    'starts workers on top of stuck ones',
  )

  const someStuck = { load: busyHalf, cannotStart: (_: number, turn: number) => turn % 3 === 0 }
  const forgetful: Decide = (observation, rules, memory) => decide(blind(observation), rules, memory)
  t.not(wrongDrains(simulate(1, { ...someStuck, decide: forgetful })).length, 0, 'drains workers beside stuck ones')

  const hasty: Decide = (observation, rules, memory) => {
    const next = decide(observation, rules, memory)
    if (next.decision.reason !== 'starting' || observation.workers === 'unknown') return next
    const pods = observation.workers.filter(({ state }) => state === 'drained').map(({ pod }) => pod)
    return { ...next, decision: { ...next.decision, kind: 'stop', pods: pods.length > 0 ? pods : ['any'] } }
  }
  const brief = { ...policy, holdMs: 1, drainStepMs: 1 }
  t.not(simulate(1, { load: busyHalf, policy: brief, decide: hasty }).aborted, 0, 'stops while others are starting')

  const restless: Decide = (observation, rules, memory) => {
    const next = decide(observation, rules, memory)
    const decision: Decision = { kind: 'stop', pods: [], desired: next.decision.desired, reason: 'excess' }
    return stuckIn(observation).length > 0 && next.decision.kind === 'hold' ? { ...next, decision } : next
  }
  const settled = { fromMs: minuteMs, toMs: 2 * minuteMs }
  t.not(acts(simulate(1, { ...allStuck, decide: restless }), settled).length, 0, 'writes while nothing changes')
  t.end()
})

for (const seed of seeds) {
  t.test(`controller troubles: requests no workers while all are stuck, then serves all, seed ${seed}`, (t) => {
    const outcome = simulate(seed, { load: busyHalf, cannotStart: (atMs) => atMs < 8 * minuteMs })
    holdsAlways(t, outcome, policy)
    const stuck = { fromMs: minuteMs, toMs: 8 * minuteMs }
    t.strictSame(acts(outcome, stuck), [], 'does nothing meanwhile')
    const reasons = outcome.moments.filter(({ atMs }) => atMs > stuck.fromMs && atMs < stuck.toMs)
    t.ok(reasons.every(({ decision }) => decision.reason === 'unschedulable'))
    t.equal(outcome.moments.at(-1)?.known, 0, 'all are served')
    isAtRest(t, outcome, policy.min)
    t.end()
  })

  t.test(`controller troubles: removes stuck workers first if every third cannot start, seed ${seed}`, (t) => {
    const outcome = simulate(seed, { load: busyHalf, cannotStart: (_, turn) => turn % 3 === 0 })
    holdsAlways(t, outcome, policy)
    isAtRest(t, outcome, policy.min)
    t.end()
  })

  t.test(`controller troubles: stays within bounds while workers get stuck and free again, seed ${seed}`, (t) => {
    const random = seededRandom(seed + 100)
    const until = Array.from({ length: 100 }, () => untilMs * random())
    const cannotStart = (atMs: number, turn: number) =>
      (turn + Math.floor(atMs / 20_000)) % 2 === 0 && atMs < (until[turn % 100] ?? 0)
    const outcome = simulate(seed, { load: busyHalf, cannotStart })
    holdsAlways(t, outcome, policy)
    isAtRest(t, outcome, policy.min)
    t.end()
  })

  t.test(`controller troubles: stays within bounds and does not retry constantly under a quota, seed ${seed}`, (t) => {
    const outcome = simulate(seed, { load: busyHalf, quota: () => 3 })
    holdsAlways(t, outcome, policy)
    t.ok(outcome.moments.some(({ decision }) => decision.reason === 'quota'))
    const asking = acts(outcome, { fromMs: minuteMs, toMs: 10 * minuteMs })
    t.ok(asking.length < 20, `${asking.length} changes in nine minutes`)
    isAtRest(t, outcome, policy.min)
    t.end()
  })

  t.test(`controller troubles: stays within bounds with stuck workers, quota and buffer, seed ${seed}`, (t) => {
    const rules = { ...policy, buffer: 4 }
    const quota = (atMs: number) => (atMs % (4 * minuteMs) < 2 * minuteMs ? 6 : 100)
    const cannotStart = (atMs: number, turn: number) => turn % 4 === 0 && atMs < 12 * minuteMs
    const outcome = simulate(seed, { load: busyHalf, policy: rules, quota, cannotStart })
    holdsAlways(t, outcome, rules)
    isAtRest(t, outcome, rules.buffer)
    t.end()
  })

  t.test(`controller troubles: keeps the last worker for zeroAfterMs, seed ${seed}`, (t) => {
    const rules = { ...policy, min: 0, zeroAfterMs: 5 * minuteMs }
    const outcome = simulate(seed, { load: busyHalf, policy: rules })
    holdsAlways(t, outcome, rules)
    const endedMs = outcome.moments.findLast(({ known }) => known > 0)?.atMs ?? 0
    const idle = outcome.moments.filter(({ atMs }) => atMs > endedMs && atMs < endedMs + rules.zeroAfterMs)
    t.ok(Math.min(...idle.map(({ ready }) => ready)) === 1, 'shrinks to one, and not below')
    isAtRest(t, outcome, 0)
    t.end()
  })

  t.test(`controller troubles: applies a fixed size and changes nothing otherwise, seed ${seed}`, (t) => {
    const sizeAt = (atMs: number) => [5, 2, 8, 0][Math.floor(atMs / (5 * minuteMs))] ?? 0
    const policyAt = (atMs: number): PoolPolicy => ({ ...policy, min: 1, size: sizeAt(atMs) })
    const outcome = simulate(seed, { load: busyHalf, policyAt, ledgerSilent: () => true })
    holdsAlways(t, outcome, { ...policy, max: 8 })
    for (const [turn, size] of [5, 2, 8, 0].entries()) {
      const settled = { fromMs: turn * 5 * minuteMs + minuteMs, toMs: (turn + 1) * 5 * minuteMs }
      t.strictSame(acts(outcome, settled), [])
      t.equal(outcome.moments.find(({ atMs }) => atMs === settled.fromMs)?.ready, size)
    }
    t.end()
  })

  t.test(`controller troubles: does nothing while paused, then holds its size for a while, seed ${seed}`, (t) => {
    const pauseMs = { fromMs: 5 * minuteMs, toMs: 12 * minuteMs }
    const policyAt = (atMs: number) => ({ ...policy, isPaused: atMs >= pauseMs.fromMs && atMs < pauseMs.toMs })
    const outcome = simulate(seed, { load: busyHalf, policyAt })
    holdsAlways(t, outcome, policy)
    t.strictSame(acts(outcome, pauseMs), [])
    const held = { fromMs: pauseMs.toMs, toMs: pauseMs.toMs + policy.holdMs - 1000 }
    t.strictSame(acts(outcome, held), [], 'holds the size that it finds')
    isAtRest(t, outcome, policy.min)
    t.end()
  })

  t.test(`controller troubles: keeps a buffer of five idle workers, seed ${seed}`, (t) => {
    const rules = { ...policy, max: 40, buffer: 5 }
    const outcome = simulate(seed, { load: busyHalf, policy: rules })
    holdsAlways(t, outcome, rules)
    t.ok(Math.max(...outcome.moments.map(({ required }) => required)) <= 30, 'not three times what the load needs')
    isAtRest(t, outcome, rules.buffer)
    t.end()
  })

  t.test(`controller troubles: starts only the workers that slots of other pools do not replace, seed ${seed}`, (t) => {
    const rules = { ...policy, min: 0 }
    const enough = simulate(seed, { load: busyHalf, policy: rules, slotsElsewhere: 20 })
    t.equal(Math.max(...enough.moments.map(({ required }) => required)), 0, 'none if slots of other pools suffice')
    const few = simulate(seed, { load: busyHalf, policy: rules, slotsElsewhere: 3 })
    holdsAlways(t, few, rules)
    const settled = few.moments.filter(({ atMs }) => atMs > 2 * minuteMs && atMs < 10 * minuteMs)
    t.ok(Math.min(...settled.map(({ ready }) => ready)) >= 1, 'serves the rest')
    const overdue = few.waitsMs.filter((waitMs) => waitMs > rules.objectivesMs.interactive).length
    t.ok(overdue < few.waitsMs.length / 50, `${overdue} of ${few.waitsMs.length} overdue`)
    isAtRest(t, few, 0)
    t.end()
  })
}

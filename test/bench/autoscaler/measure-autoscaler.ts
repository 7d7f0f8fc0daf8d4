import { type Lane, lanes } from '#shared/capture/lane.ts'
import { decide as realDecide } from '#controller/decide/decide.ts'
import type { Decide, PoolPolicy } from '#controller/decide/pool.ts'
import { seededRandom } from '#cli/simulation/random.ts'
import { quantile } from '#test/bench/quantile.ts'
import { predictArrivals, predictedMinutes } from '#shared/policy/predict-arrivals.ts'
import { driveByDecide, type PredictedAt } from '#cli/simulation/drive.ts'
import type { Bounds } from '#cli/simulation/sight.ts'
import { driveByLaw } from './drivers.ts'
import type { CreateLaw } from './law.ts'
import { createDocumentedHpa, createDocumentedKeda, createNaiveHpa } from './laws/examples.ts'
import { createFixed } from './laws/fixed.ts'
import { createKedaJobs, kedaJobs } from './laws/keda-jobs.ts'
import { createKeda, kedaBest, kedaDefaults } from './laws/keda.ts'
import { knativeDefaults } from './laws/knative-kpa.ts'
import { createKnative } from './laws/knative.ts'
import { createOracle } from './laws/oracle.ts'
import type { Arrival } from '#cli/simulation/pods.ts'
import { type Driver, type Outcome, type Scenario, Simulation } from '#cli/simulation/simulate.ts'
import type { Trace } from './traces.ts'

/** A pool to simulate: its limits, and the mean time of a start, of which each takes 0.8 to 1.2. */
export type Pool = Bounds & { readonly startMs: number } & Pick<
    Scenario,
    'placeMs' | 'podLifeMs' | 'zoneLostMs' | 'reportDelayMs' | 'reportLoss'
  >

/** The pool of the comparison with other laws. */
export const comparedPool: Pool = { min: 0, max: 120, slots: 1, startMs: 8000 }

const policyOf = ({ min, max, slots, reservedSlots = 0 }: Pool, overrides: Partial<PoolPolicy>): PoolPolicy => ({
  size: 'by-queue',
  isPaused: false,
  min,
  max,
  slots,
  reservedSlots,
  isPredicting: true,
  buffer: 0,
  idleCores: 0,
  objectivesMs: { interactive: 2000, normal: 10_000, bulk: 120_000 },
  holdMs: 30_000,
  holdsLong: true,
  zeroAfterMs: 300_000,
  startLimitMs: Number.POSITIVE_INFINITY,
  startMaxMs: Number.POSITIVE_INFINITY,
  drainStepMs: 5000,
  ...overrides,
})

/** Creates what decides for one simulation. */
export type CreateDriver = (pool: Pool, arrivals: readonly Arrival[]) => Driver

/** The controller's own law, with changes of the pool's policy or another `decide`. */
export const own =
  (overrides: Partial<PoolPolicy> = {}, decide: Decide = realDecide): CreateDriver =>
  (pool) =>
    driveByDecide(policyOf(pool, overrides), decide)

const minuteMs = 60_000
/** Days before the simulated one with which a prediction compares it. */
const pastDays = 28

const countByMinute = (arrivals: readonly Arrival[]): readonly number[] => {
  const counts: number[] = []
  for (const { atMs } of arrivals) {
    const minute = Math.floor(atMs / minuteMs)
    counts[minute] = (counts[minute] ?? 0) + 1
  }
  return counts
}

/** What the ledger predicts for `interactive` if `past` came at the same time of the 28 days before, each day with another seed. */
const predictFrom = (past: Trace): PredictedAt => {
  const days = Array.from({ length: pastDays + 1 }, (_, day) => countByMinute(past.create(10_000 + day)))
  const predict = (minute: number) =>
    predictArrivals((minutesAgo) => {
      const day = Math.floor(minutesAgo / (24 * 60))
      const inDay = minute - (minutesAgo % (24 * 60))
      return day === 0 ? undefined : days[day]?.[inDay]
    })
  const predicted = Array.from({ length: past.durationMs / minuteMs + predictedMinutes }, (_, minute) =>
    predict(minute),
  )
  return (nowMs) => {
    const minute = Math.floor(nowMs / minuteMs)
    return {
      intoMinuteMs: nowMs % minuteMs,
      lanes: { interactive: predicted.slice(minute, minute + predictedMinutes) },
    }
  }
}

/** The controller's own law with what the ledger predicts from a past. */
export const ownWithPast = (past: Trace): CreateDriver => {
  const predictedAt = predictFrom(past)
  return (pool) => driveByDecide(policyOf(pool, {}), realDecide, predictedAt)
}

const by =
  (createLaw: CreateLaw): CreateDriver =>
  (pool) =>
    driveByLaw(createLaw(pool))

/** The laws of the comparison by their names. */
export const laws = {
  Shutterfleet: own(),
  'Knative KPA': by(createKnative(knativeDefaults)),
  'Knative KPA, quick': by(createKnative({ ...knativeDefaults, stableWindowMs: 20_000, panicWindowShare: 0.05 })),
  'KEDA, best settings': by(createKeda(kedaBest())),
  'KEDA, quick HPA': by(createKeda(kedaBest({ syncMs: 2000, downWindowMs: 30_000 }))),
  'KEDA, defaults': by(createKeda(kedaDefaults)),
  'KEDA ScaledJob': by(createKedaJobs({ ...kedaJobs({ name: 'default' }), pollMs: 5000 })),
  'our example for a HPA': by(createDocumentedHpa),
  'our example for KEDA': by(createDocumentedKeda),
  'a HPA on what waits': by(createNaiveHpa),
  'fixed, 40 pods': by(createFixed(40)),
  'oracle, knows the arrivals': (pool, arrivals) => driveByLaw(createOracle(arrivals, pool.startMs * 1.2, pool.slots)),
} as const satisfies Readonly<Record<string, CreateDriver>>

/** The mean of several seeds, and half of its 95 % confidence interval. */
export type Estimate = { readonly mean: number; readonly half: number }

const estimate = (values: readonly number[]): Estimate => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length - 1)
  return { mean, half: 1.96 * Math.sqrt(variance / values.length) }
}

/** One law on one trace: waits in milliseconds after the first five minutes, of all lanes unless one is named. */
export type Row = Readonly<Record<'p50' | 'p95' | 'p99' | 'podHours' | 'turnsPerHour' | 'unbegun', Estimate>>

/** Simulates one seed. */
export const simulate = (trace: Trace, create: CreateDriver, seed: number, pool: Pool = comparedPool): Outcome => {
  const arrivals = trace.create(seed)
  const random = seededRandom(seed + 1000)
  const { startMs, ...limits } = pool
  const driver = create(pool, arrivals)
  const scenario: Scenario = {
    ...limits,
    arrivals,
    durationMs: trace.durationMs,
    bounds: pool,
    random,
    startMs: () => startMs * (0.8 + 0.4 * random()),
  }
  return new Simulation(scenario, driver).run()
}

const waitsOf = ({ waitsMs }: Outcome, only?: Lane): readonly number[] =>
  only ? waitsMs[only] : lanes.flatMap((lane) => waitsMs[lane])

/** Simulates the seeds 1 to `seeds`. */
export const measureLaw = (
  trace: Trace,
  create: CreateDriver,
  { seeds, pool, lane }: { readonly seeds: number; readonly pool?: Pool; readonly lane?: Lane },
): Row => {
  const outcomes = Array.from({ length: seeds }, (_, index) => simulate(trace, create, index + 1, pool))
  const of = (value: (outcome: Outcome) => number) => estimate(outcomes.map(value))
  const wait = (share: number) => of((outcome) => quantile(waitsOf(outcome, lane), share))
  return {
    p50: wait(0.5),
    p95: wait(0.95),
    p99: wait(0.99),
    podHours: of(({ podHours }) => podHours),
    turnsPerHour: of(({ turnsPerHour }) => turnsPerHour),
    unbegun: of(({ unbegun }) => unbegun),
  }
}

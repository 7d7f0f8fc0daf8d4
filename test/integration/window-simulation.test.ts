import t, { type Test } from 'tap'
import { logNormal, seededRandom } from '#cli/simulation/random.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { poolPolicy } from '#test/helpers/observed-pool.ts'
import { createTenant } from '#test/helpers/tenant.ts'
import { simulateWindow, type WindowOutcome, type WindowScenario } from '#test/helpers/window-simulation.ts'

const server = await startPostgres(t)
const captures = 5000
const max_pending = 2 * captures
const startMs = () => 2000

/** The fraction of the slots that were busy while they took work. */
const busyPart = ({ moments }: WindowOutcome, fromMs = 0) => {
  const taking = moments.filter(({ atMs }) => atMs >= fromMs)
  const sum = (field: 'slots' | 'free') => taking.reduce((total, moment) => total + moment[field], 0)
  return 1 - sum('free') / sum('slots')
}

const simulate = async (
  seed: number,
  scenario: Pick<WindowScenario, 'policy' | 'ledgerMs' | 'untilMs'> & { medianMs: number; arriveMs: readonly number[] },
) => {
  const random = seededRandom(seed)
  const database = await server.createDatabase()
  const loads: WindowScenario['loads'][number][] = []
  for (const atMs of scenario.arriveMs)
    loads.push({ tenant: await createTenant(database, { max_pending }), captures, atMs })
  const serviceMs = () => logNormal(random, scenario.medianMs, 0.3)
  return { loads, outcome: await simulateWindow(database, { ...scenario, loads, serviceMs, startMs }) }
}

const fillsPool = async (t: Test, seed: number, scenario: Parameters<typeof simulate>[1]) => {
  const { outcome } = await simulate(seed, scenario)
  const { max } = scenario.policy
  const fullMs = outcome.moments.find(({ slots }) => slots === max * scenario.policy.slots)?.atMs ?? Infinity
  t.ok(fullMs < 5000, `grown to ${max} workers after ${fullMs} ms`)
  t.equal(outcome.required, max, 'at most the maximum number of workers is requested')
  const busy = busyPart(outcome)
  t.ok(busy >= 0.95, `${Math.round(busy * 1000) / 10} % of the requested slots are busy`)
}

for (const [seed, { max, slots, medianMs, ledgerMs }] of [
  { max: 50, slots: 1, medianMs: 1000, ledgerMs: 100 },
  { max: 12, slots: 4, medianMs: 3000, ledgerMs: 250 },
  // Between two runs of the ledger more captures end than a window of 16 contains.
  { max: 50, slots: 1, medianMs: 1000, ledgerMs: 500 },
].entries()) {
  const name = `window simulation: one account fills ${max} workers of ${slots} slots with a ledger that is ${ledgerMs} ms late`
  t.test(name, (t) =>
    fillsPool(t, seed, { policy: poolPolicy({ max, slots }), medianMs, ledgerMs, untilMs: 15_000, arriveMs: [0] }),
  )
}

t.test(
  'window simulation: a second account that starts later immediately shares the pool with the first',
  async (t) => {
    const laterMs = 5000
    const { loads, outcome } = await simulate(9, {
      policy: poolPolicy({ max: 50 }),
      medianMs: 1000,
      ledgerMs: 100,
      untilMs: 25_000,
      arriveMs: [0, laterMs],
    })
    // Captures of the first account that were already queued start earlier: as many as it had running.
    const [first = 0, second = 0] = loads.map(
      ({ tenant }) =>
        outcome.starts.filter(({ accountId, atMs }) => accountId === tenant.accountId && atMs >= laterMs).length,
    )
    const part = second / (first + second)
    t.ok(Math.abs(part - 0.5) <= 0.05, `${first} and ${second} starts since then`)
    t.ok(busyPart(outcome) >= 0.95)
  },
)

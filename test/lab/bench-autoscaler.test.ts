import t from 'tap'
import { decide } from '#controller/decide/decide.ts'
import { type Decide, blankMemory } from '#controller/decide/pool.ts'
import {
  type CreateDriver,
  comparedPool,
  laws,
  measureLaw,
  own,
  ownWithPast,
  type Pool,
  type Row,
  simulate,
} from '#test/bench/autoscaler/measure-autoscaler.ts'
import { calm, type Trace, traces } from '#test/bench/autoscaler/traces.ts'
import { poisson, seededRandom } from '#cli/simulation/random.ts'
import { driveByLaw } from '#test/bench/autoscaler/drivers.ts'
import { createFixed } from '#test/bench/autoscaler/laws/fixed.ts'

const hourMs = 3_600_000
const seeds = 2

const rows = new Map<keyof typeof traces, Row>()
/** Our law's result, simulated once for each trace: a seed gives the same again. */
const measureOwn = (name: keyof typeof traces): Row => {
  const row = rows.get(name) ?? measureLaw(traces[name], own(), { seeds })
  rows.set(name, row)
  return row
}

/** Exponential services, as queueing theory assumes. */
const markovian = (perSecond: number, serviceMs: number): Trace => ({
  durationMs: 10 * hourMs,
  create: (seed) => {
    const random = seededRandom(seed)
    return poisson(random, { fromMs: 0, toMs: 10 * hourMs, perSecond }).map((atMs) => ({
      atMs,
      lane: 'interactive',
      serviceMs: -Math.log(1 - random()) * serviceMs,
    }))
  },
})

t.test('bench autoscaler: waits of a fixed pool are those of queueing theory', (t) => {
  // Two captures a second of 2 s each on 5 slots: 4 busy. By Erlang's C formula 55.4 % wait, 2 s on average.
  const fixed: CreateDriver = (pool) => driveByLaw(createFixed(5)(pool))
  const { waitsMs } = simulate(markovian(2, 2000), fixed, 1, { ...comparedPool, startMs: 1 })
  const waits = waitsMs.interactive
  const waited = waits.filter((waitMs) => waitMs > 0)
  t.ok(Math.abs(waited.length / waits.length - 0.554) < 0.02, `${waited.length / waits.length} wait`)
  const meanMs = waited.reduce((sum, waitMs) => sum + waitMs, 0) / waited.length
  t.ok(Math.abs(meanMs - 2000) < 150, `${meanMs} ms`)
  t.end()
})

t.test('bench autoscaler: a seed gives the same result again', (t) => {
  const once = () => simulate(traces.clumps, own(), 7)
  t.strictSame(once(), once())
  t.end()
})

t.test(
  'bench autoscaler: the law interrupts no capture, also where reports of workers come late, and stopping at once is seen',
  (t) => {
    const late = { ...comparedPool, reportDelayMs: 2000 }
    const { interrupted, drained, busyDrained } = simulate(traces.bursts, own(), 1, late)
    t.equal(interrupted, 0)
    t.ok(drained > 300 && busyDrained > 0, `${busyDrained} of ${drained} drained workers have begun a capture`)
    const hasty: Decide = (...input) => {
      const { decision, memory } = decide(...input)
      return { decision: decision.kind === 'drain' ? { ...decision, kind: 'stop' } : decision, memory }
    }
    t.ok(simulate(traces.bursts, own({}, hasty), 1, late).interrupted > 0)
    t.end()
  },
)

t.test('bench autoscaler: captures wait longer with late and lost reports, and all begin', (t) => {
  const p99 = (more: Partial<Pool>) =>
    measureLaw(traces.bursts, own(), { seeds, pool: { ...comparedPool, ...more } }).p99.mean
  const sound = measureOwn('bursts').p99.mean
  const [late, lost] = [p99({ reportDelayMs: 10_000 }), p99({ reportLoss: 0.5 })]
  t.ok(late > 1.2 * sound && late < 3 * sound, `${late} and ${sound} ms`)
  t.ok(lost > sound && lost < 2 * sound, `${lost} and ${sound} ms`)
  t.end()
})

t.test('bench autoscaler: captures wait less than with the best other law, for no more pods', (t) => {
  for (const name of ['bursts', 'flash', 'clumps'] as const) {
    const [ours, best] = [measureOwn(name), measureLaw(traces[name], laws['Knative KPA'], { seeds })]
    t.ok(ours.p99.mean < 0.75 * best.p99.mean, `${name}: ${ours.p99.mean} and ${best.p99.mean} ms`)
    t.ok(ours.podHours.mean <= 1.02 * best.podHours.mean, `${name}: ${ours.podHours.mean} and ${best.podHours.mean}`)
  }
  t.end()
})

/** The real law with observations or memory changed: how the checks find a fault. */
const faulty =
  (change: (...input: Parameters<Decide>) => Parameters<Decide>): Decide =>
  (...input) =>
    decide(...change(...input))

t.test('bench autoscaler: a steady load hardly moves the pool, and ignoring the hold windows is seen', (t) => {
  t.ok(measureOwn('steady').turnsPerHour.mean <= 4)
  const forgetful = faulty((observation, policy, memory) => [observation, policy, { ...memory, wants: [], loads: [] }])
  t.ok(measureLaw(traces.steady, own({}, forgetful), { seeds }).turnsPerHour.mean > 20)
  t.end()
})

t.test('bench autoscaler: not counting what runs is seen', (t) => {
  const blind = faulty((observation, policy, memory) => {
    const { backlog, depth } = observation
    if (backlog === 'unknown' || depth === 'unknown') return [observation, policy, memory]
    const counted = { ...backlog, processing: 0 }
    return [
      { ...observation, backlog: counted, depth: { ...depth, inFlight: 0 } },
      policy,
      { ...memory, load: blankMemory.load },
    ]
  })
  const sound = measureOwn('steady').p99.mean
  const unsound = measureLaw(traces.steady, own({}, blind), { seeds }).p99.mean
  t.ok(unsound > 3 * sound, `${sound} and ${unsound} ms`)
  t.end()
})

t.test('bench autoscaler: a crowd that comes each day finds workers; one that stays away once costs little', (t) => {
  const means = ({ p99, podHours }: Row) => ({ p99: p99.mean, podHours: podHours.mean })
  const measure = (trace: Trace, law: CreateDriver) => means(measureLaw(trace, law, { seeds }))
  const [surprised, prepared] = [means(measureOwn('flash')), measure(traces.flash, ownWithPast(traces.flash))]
  t.ok(prepared.p99 < 0.2 * surprised.p99, `${prepared.p99} and ${surprised.p99} ms`)
  t.ok(prepared.podHours < 1.1 * surprised.podHours, `${prepared.podHours} and ${surprised.podHours}`)
  const [plain, misled] = [measure(calm, own()), measure(calm, ownWithPast(traces.flash))]
  // Each of two crowds is awaited for about three minutes.
  t.ok(misled.podHours < plain.podHours + 7.5, `${misled.podHours} and ${plain.podHours}`)
  t.end()
})

t.test('bench autoscaler: where no pattern is, a past costs less than a twentieth', (t) => {
  const without = measureOwn('clumps')
  const withPast = measureLaw(traces.clumps, ownWithPast(traces.clumps), { seeds })
  t.ok(withPast.podHours.mean < 1.05 * without.podHours.mean, `${withPast.podHours.mean} and ${without.podHours.mean}`)
  t.end()
})

t.test('bench autoscaler: what a lost zone ran is captured by others, and its pods are replaced', (t) => {
  const zoneLostMs = 2_700_000
  const [calmly, lost] = [comparedPool, { ...comparedPool, zoneLostMs }].map((pool) =>
    simulate(traces.steady, own(), 1, pool),
  )
  if (!calmly || !lost) throw new Error('two pools')
  t.ok(Math.max(...lost.waitsMs.interactive) > Math.max(...calmly.waitsMs.interactive))
  t.equal(lost.unbegun, calmly.unbegun)
  const podsAt = (atMs: number) => lost.series.find((each) => each.atMs >= atMs)?.pods ?? 0
  t.ok(podsAt(zoneLostMs + 60_000) > 0.9 * podsAt(zoneLostMs - 60_000))
  t.end()
})

t.test('bench autoscaler: a batch takes fewer pods than callers who wait, and meets its objective', (t) => {
  const batches: Trace = {
    ...traces.clumps,
    create: (seed) => traces.clumps.create(seed).map((arrival) => ({ ...arrival, lane: 'bulk' })),
  }
  const [urgent, bulk] = [measureOwn('clumps'), measureLaw(batches, own(), { seeds })]
  t.ok(bulk.podHours.mean <= 0.5 * urgent.podHours.mean, `${bulk.podHours.mean} of ${urgent.podHours.mean} pod-hours`)
  t.ok(bulk.p99.mean <= 120_000, `${bulk.p99.mean} ms`)
  t.end()
})

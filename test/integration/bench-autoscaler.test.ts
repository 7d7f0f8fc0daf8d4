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
  simulate,
} from '#test/bench/autoscaler/measure-autoscaler.ts'
import { calm, type Trace, traces } from '#test/bench/autoscaler/traces.ts'
import { poisson, seededRandom } from '#cli/simulation/random.ts'
import { driveByLaw } from '#test/bench/autoscaler/drivers.ts'
import { createFixed } from '#test/bench/autoscaler/laws/fixed.ts'

const hourMs = 3_600_000
const seeds = 2

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
  const p99 = (pool: Pool) => measureLaw(traces.bursts, own(), { seeds, pool }).p99.mean
  const [sound, late, lost] = [{}, { reportDelayMs: 10_000 }, { reportLoss: 0.5 }].map((more) =>
    p99({ ...comparedPool, ...more }),
  )
  if (sound === undefined || late === undefined || lost === undefined) throw new Error('three pools')
  t.ok(late > 1.2 * sound && late < 3 * sound, `${late} and ${sound} ms`)
  t.ok(lost > sound && lost < 2 * sound, `${lost} and ${sound} ms`)
  t.end()
})

t.test('bench autoscaler: captures wait less than with the best other law, for no more pods', (t) => {
  for (const name of ['bursts', 'flash', 'clumps'] as const) {
    const [ours, best] = [own(), laws['Knative KPA']].map((law) => measureLaw(traces[name], law, { seeds }))
    if (!ours || !best) throw new Error('two laws')
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
  t.ok(measureLaw(traces.steady, own(), { seeds }).turnsPerHour.mean <= 4)
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
  const [sound, unsound] = [own(), own({}, blind)].map((law) => measureLaw(traces.steady, law, { seeds }).p99.mean)
  t.ok((unsound ?? 0) > 3 * (sound ?? 0), `${sound} and ${unsound} ms`)
  t.end()
})

t.test('bench autoscaler: a crowd that comes each day finds workers; one that stays away once costs little', (t) => {
  const measure = (trace: Trace, law: CreateDriver) => {
    const { p99, podHours } = measureLaw(trace, law, { seeds })
    return { p99: p99.mean, podHours: podHours.mean }
  }
  const [surprised, prepared] = [own(), ownWithPast(traces.flash)].map((law) => measure(traces.flash, law))
  if (!surprised || !prepared) throw new Error('two laws')
  t.ok(prepared.p99 < 0.2 * surprised.p99, `${prepared.p99} and ${surprised.p99} ms`)
  t.ok(prepared.podHours < 1.1 * surprised.podHours, `${prepared.podHours} and ${surprised.podHours}`)
  const [plain, misled] = [own(), ownWithPast(traces.flash)].map((law) => measure(calm, law))
  if (!plain || !misled) throw new Error('two laws')
  // Each of two crowds is awaited for about three minutes.
  t.ok(misled.podHours < plain.podHours + 7.5, `${misled.podHours} and ${plain.podHours}`)
  t.end()
})

t.test('bench autoscaler: where no pattern is, a past costs less than a twentieth', (t) => {
  const [without, withPast] = [own(), ownWithPast(traces.clumps)].map((law) =>
    measureLaw(traces.clumps, law, { seeds }),
  )
  if (!without || !withPast) throw new Error('two laws')
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
  const [urgent, bulk] = [traces.clumps, batches].map((trace) => measureLaw(trace, own(), { seeds }))
  if (!urgent || !bulk) throw new Error('two lanes')
  t.ok(bulk.podHours.mean <= 0.5 * urgent.podHours.mean, `${bulk.podHours.mean} of ${urgent.podHours.mean} pod-hours`)
  t.ok(bulk.p99.mean <= 120_000, `${bulk.p99.mean} ms`)
  t.end()
})

// Simulates the control law beside those of other autoscalers, all parts or those that are named.
import type { Outcome } from '#cli/simulation/simulate.ts'
import type { PoolPolicy } from '#controller/decide/pool.ts'
import type { Lane } from '#shared/capture/lane.ts'
import { madeBy, writePart } from '#test/bench/page.ts'
import { table } from '#tools/docs/markdown-table.ts'
import { quantile } from '#test/bench/quantile.ts'
import { runProgram } from '#test/bench/run-parts.ts'
import {
  comparedPool,
  type Estimate,
  laws,
  measureLaw,
  own,
  ownWithPast,
  type Pool,
  type Row,
  simulate,
} from './measure-autoscaler.ts'
import { measureReplay } from './measure-replay.ts'
import { calm, replayedTraces, type Trace, traces } from './traces.ts'

const seeds = 20
const fewSeeds = 8

const seconds = ({ mean }: Estimate) => (mean / 1000).toFixed(2)
const withHalf = ({ mean, half }: Estimate, unit: number) => `${(mean / unit).toFixed(2)} ± ${(half / unit).toFixed(2)}`
const cells = (row: Row) => [
  seconds(row.p50),
  seconds(row.p95),
  withHalf(row.p99, 1000),
  withHalf(row.podHours, 1),
  row.turnsPerHour.mean.toFixed(1),
  Math.round(row.unbegun.mean),
]
const columns = ['p50 s', 'p95 s', 'p99 s', 'pod-hours', 'turns an hour', 'not begun at the end']

const lawsText = () =>
  table(
    ['Load', 'Law', ...columns],
    Object.entries(traces).flatMap(([name, trace]) =>
      Object.entries(laws).map(([law, create]) => [name, law, ...cells(measureLaw(trace, create, { seeds }))]),
    ),
  )

const inLane = (trace: Trace, bulkShare: number): Trace => ({
  ...trace,
  create: (seed) =>
    trace
      .create(seed)
      .map((arrival, index) => ({ ...arrival, lane: index % 100 < bulkShare * 100 ? 'bulk' : 'interactive' })),
})
/** The objectives as if a caller waited for every capture. */
const urgent: Partial<PoolPolicy> = { objectivesMs: { interactive: 2000, normal: 2000, bulk: 2000 } }

const fourSlots: Pool = { ...comparedPool, slots: 4, max: 30 }

const batchesText = () => {
  const [clumps, bursts] = [inLane(traces.clumps, 1), inLane(traces.bursts, 0.8)]
  const rows = [
    { load: 'clumps, all in `bulk`', objectives: '2, 10 and 120 s', trace: clumps, law: own() },
    { load: 'clumps, all in `bulk`', objectives: '2 s for all', trace: clumps, law: own(urgent) },
    { load: 'bursts, 80 % in `bulk`', objectives: '2, 10 and 120 s', trace: bursts, law: own() },
    { load: 'bursts, 80 % in `bulk`', objectives: '2 s for all', trace: bursts, law: own(urgent) },
    { load: 'the same, 4 slots', objectives: '2, 10 and 120 s', trace: bursts, law: own(), pool: fourSlots },
    {
      load: 'the same, 1 of 4 slots reserved',
      objectives: '2, 10 and 120 s',
      trace: bursts,
      law: own(),
      pool: { ...fourSlots, reservedSlots: 1 },
    },
  ]
  return table(
    ['Load', 'Objectives', 'p99 s of `interactive`', 'p99 s of `bulk`', 'pod-hours'],
    rows.map(({ load, objectives, trace, law, pool = comparedPool }) => {
      const measure = (lane: Lane) => measureLaw(trace, law, { seeds: fewSeeds, pool, lane })
      const bulk = measure('bulk')
      const interactive = trace === bursts ? seconds(measure('interactive').p99) : ''
      return [load, objectives, interactive, seconds(bulk.p99), withHalf(bulk.podHours, 1)]
    }),
  )
}

const predictionText = () => {
  const days = [
    ['steady', traces.steady, traces.steady],
    ['diurnal', traces.diurnal, traces.diurnal],
    ['flash', traces.flash, traces.flash],
    ['calm after days with `flash`', calm, traces.flash],
    ['bursts', traces.bursts, traces.bursts],
    ['clumps', traces.clumps, traces.clumps],
    ['sparse', traces.sparse, traces.sparse],
    ['callers', traces.callers, traces.callers],
    ['timers', traces.timers, traces.timers],
  ] as const
  return table(
    ['Load', 'Past', ...columns],
    days.flatMap(([name, today, past]) => [
      [name, 'none', ...cells(measureLaw(today, own(), { seeds }))],
      [name, '28 days', ...cells(measureLaw(today, ownWithPast(past), { seeds }))],
    ]),
  )
}

/** Nodes for 40 pods are there; another takes two minutes. */
const nodesArrive = (_: number, pods: number) => (pods < 40 ? 0 : 120_000)

/** A zone is lost after 45 minutes, and with it every third pod; for two minutes no node has room for others. */
const zoneLostMs = 2_700_000
const nodesReturn = (atMs: number) => (atMs >= zoneLostMs ? Math.max(0, zoneLostMs + 120_000 - atMs) : 0)

const conditions: Readonly<Record<string, Pool>> = {
  'starts of 2 s': { ...comparedPool, startMs: 2000 },
  'starts of 8 s': comparedPool,
  'starts of 30 s': { ...comparedPool, startMs: 30_000 },
  'starts of 180 s': { ...comparedPool, startMs: 180_000 },
  '4 slots': fourSlots,
  'at most 25 pods': { ...comparedPool, max: 25 },
  'nodes for 40 pods, others after 2 min': { ...comparedPool, placeMs: nodesArrive },
  'pods live for 10 min on average': { ...comparedPool, podLifeMs: 600_000 },
  'a zone lost, no room for 2 min': { ...comparedPool, zoneLostMs, placeMs: nodesReturn },
}
/** What only our controller depends on: reports of workers, and counts of the ledger. */
const sightConditions: Readonly<Record<string, Pool>> = {
  'reports and counts 2 s late': { ...comparedPool, reportDelayMs: 2000 },
  'reports and counts 10 s late': { ...comparedPool, reportDelayMs: 10_000 },
  'a third of reports and counts lost': { ...comparedPool, reportLoss: 1 / 3 },
}

const conditionRows = (pools: Readonly<Record<string, Pool>>, names: readonly (keyof typeof laws)[]) =>
  Object.entries(pools).flatMap(([name, pool]) =>
    names.map((law) => [name, law, ...cells(measureLaw(traces.bursts, laws[law], { seeds: fewSeeds, pool }))]),
  )

const conditionsText = () =>
  table(
    ['Bursts with', 'Law', ...columns],
    [
      ...conditionRows(conditions, ['Shutterfleet', 'Knative KPA', 'KEDA, best settings']),
      ...conditionRows(sightConditions, ['Shutterfleet']),
    ],
  )

const drainsText = () => {
  const sum = (outcomes: readonly Outcome[], count: (outcome: Outcome) => number) =>
    outcomes.reduce((total, outcome) => total + count(outcome), 0)
  return table(
    ['Load', 'workers drained', 'had reported a capture', 'ran one', 'captures interrupted'],
    Object.entries(traces).map(([name, trace]) => {
      const outcomes = Array.from({ length: seeds }, (_, index) => simulate(trace, laws.Shutterfleet, index + 1))
      return [
        name,
        sum(outcomes, ({ drained }) => drained),
        sum(outcomes, ({ knownBusyDrained }) => knownBusyDrained),
        sum(outcomes, ({ busyDrained }) => busyDrained),
        sum(outcomes, ({ interrupted }) => interrupted),
      ]
    }),
  )
}

const replayText = async () => {
  const rows: (string | number)[][] = []
  for (const [name, trace] of Object.entries(replayedTraces)) {
    const { captures, startMs, serviceMs, real, simulated } = await measureReplay(trace.create(2))
    const both = (share: number) => {
      const [one, other] = [quantile(real, share), quantile(simulated, share)]
      return `${(one / 1000).toFixed(2)} and ${(other / 1000).toFixed(2)} (${(other / one).toFixed(2)})`
    }
    const means = [startMs, serviceMs].map((each) => (each / 1000).toFixed(1))
    rows.push([name, captures, ...means, both(0.5), both(0.95), both(0.99)])
  }
  return table(['Load', 'captures', 'mean start s', 'mean capture s', 'p50 s', 'p95 s', 'p99 s'], rows)
}

const chart = (title: string, lines: readonly (readonly number[])[], [from, to]: readonly [number, number]) =>
  [
    '```mermaid',
    'xychart-beta',
    `  title "${title}"`,
    `  x-axis "minutes" ${from} --> ${to}`,
    '  y-axis "captures and pods" 0 --> 130',
    ...lines.map((values) => `  line [${values.join(', ')}]`),
    '```',
  ].join('\n')

const flashText = () => {
  const [from, to] = [21, 31] as const
  const charts = (['Shutterfleet', 'Knative KPA', 'KEDA, best settings'] as const).map((law) => {
    const { series } = simulate(traces.flash, laws[law], 1)
    const shown = series.filter(({ atMs }) => atMs >= from * 60_000 && atMs <= to * 60_000)
    return chart(
      `${law}: captures that wait or run, and pods`,
      [shown.map(({ known }) => known), shown.map(({ pods }) => pods)],
      [from, to],
    )
  })
  return charts.join('\n\n')
}

const parts = {
  laws: { heading: 'Compared with other laws', measure: async () => lawsText() },
  batches: { heading: 'Batches', measure: async () => batchesText() },
  conditions: { heading: 'Other conditions', measure: async () => conditionsText() },
  prediction: { heading: 'With a past', measure: async () => predictionText() },
  drains: { heading: 'Which workers are drained', measure: async () => drainsText() },
  replay: { heading: 'Replayed', measure: replayText },
  flash: { heading: 'A flash crowd', measure: async () => flashText() },
}

await runProgram({ parts, names: process.argv.slice(2), footer: madeBy('bench-autoscaler') }, (heading, text) =>
  writePart(heading, text, 'docs/simulations.md'),
)

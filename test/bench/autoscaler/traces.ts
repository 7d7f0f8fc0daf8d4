import { logNormal, poisson, seededRandom } from '#cli/simulation/random.ts'
import type { Lane } from '#shared/capture/lane.ts'
import type { Arrival } from '#cli/simulation/pods.ts'

const hourMs = 3_600_000
/** Log-normal service times of about two seconds. */
const serviceMedianMs = 1800
const serviceSigma = 0.46

/** A trace by a seed: arrivals in the order of their times. */
export type Trace = { readonly durationMs: number; readonly create: (seed: number) => readonly Arrival[] }

type Random = () => number

const exponential = (random: Random, mean: number): number => -Math.log(1 - random()) * mean

/** Arrivals at the rate of `perSecond` at a time, by thinning those of the highest rate `most`. */
const varying = (random: Random, durationMs: number, most: number, perSecond: (atMs: number) => number): number[] =>
  poisson(random, { fromMs: 0, toMs: durationMs, perSecond: most }).filter((atMs) => random() * most < perSecond(atMs))

const trace = (
  times: (random: Random, durationMs: number) => readonly number[],
  { lane = 'interactive', hours = 1.5 }: { readonly lane?: Lane; readonly hours?: number } = {},
): Trace => ({
  durationMs: hours * hourMs,
  create: (seed) => {
    const random = seededRandom(seed)
    return times(random, hours * hourMs).map((atMs) => ({
      atMs,
      lane,
      serviceMs: logNormal(random, serviceMedianMs, serviceSigma),
    }))
  },
})

type Bursts = Readonly<Record<'calm' | 'burst', { readonly meanMs: number; readonly perSecond: number }>>

/** Alternates between two states of exponentially distributed lengths. */
const bursts = (random: Random, durationMs: number, states: Bursts): number[] => {
  const times: number[] = []
  for (let atMs = 0, isBurst = false; atMs < durationMs; isBurst = !isBurst) {
    const { meanMs, perSecond } = isBurst ? states.burst : states.calm
    const toMs = Math.min(durationMs, atMs + exponential(random, meanMs))
    times.push(...poisson(random, { fromMs: atMs, toMs, perSecond }))
    atMs = toMs
  }
  return times
}

type Flashes = { readonly calm: number; readonly flash: number; readonly flashMs: number }

/** Two flash crowds, each after a quarter of the time; rates are captures a second. */
const flashes = (random: Random, durationMs: number, { calm, flash, flashMs }: Flashes): number[] =>
  varying(random, durationMs, flash, (atMs) => {
    const inHalfMs = (atMs % (durationMs / 2)) - durationMs / 4
    return inHalfMs > 0 && inHalfMs < flashMs ? flash : calm
  })

type Clumps = { readonly meanGapMs: number; readonly least: number; readonly most: number }

/** Several captures within a second, after gaps of exponentially distributed lengths. */
const clumps = (random: Random, durationMs: number, { meanGapMs, least, most }: Clumps): number[] => {
  const times: number[] = []
  for (let atMs = exponential(random, meanGapMs); atMs < durationMs; atMs += exponential(random, meanGapMs)) {
    const size = least + Math.floor(random() * (most - least + 1))
    for (let turn = 0; turn < size; turn += 1) times.push(atMs + random() * 1000)
  }
  return times.toSorted((one, other) => one - other).filter((atMs) => atMs < durationMs)
}

const replayed = { hours: 0.1 }

/** Shapes of load, each with captures of 2 s on average. */
export const traces = {
  steady: trace((random, toMs) => poisson(random, { fromMs: 0, toMs, perSecond: 10 })),
  diurnal: trace((random, toMs) => varying(random, toMs, 20, (atMs) => 9 - 8 * Math.cos((2 * Math.PI * atMs) / toMs))),
  bursts: trace((random, toMs) =>
    bursts(random, toMs, { calm: { meanMs: 240_000, perSecond: 1 }, burst: { meanMs: 120_000, perSecond: 20 } }),
  ),
  flash: trace((random, toMs) => flashes(random, toMs, { calm: 2, flash: 30, flashMs: 300_000 })),
  clumps: trace((random, toMs) => clumps(random, toMs, { meanGapMs: 60_000, least: 20, most: 100 })),
  sparse: trace((random, toMs) => clumps(random, toMs, { meanGapMs: 240_000, least: 1, most: 8 })),
} as const satisfies Readonly<Record<string, Trace>>

/** The same shapes for a machine of two cores, minutes long. */
export const replayedTraces = {
  bursts: trace(
    (random, toMs) =>
      bursts(random, toMs, { calm: { meanMs: 60_000, perSecond: 0.3 }, burst: { meanMs: 30_000, perSecond: 4 } }),
    replayed,
  ),
  flash: trace((random, toMs) => flashes(random, toMs, { calm: 0.3, flash: 4, flashMs: 45_000 }), replayed),
  clumps: trace((random, toMs) => clumps(random, toMs, { meanGapMs: 20_000, least: 4, most: 12 }), replayed),
} as const satisfies Readonly<Record<string, Trace>>

import { logNormal, poisson, seededRandom } from '#cli/simulation/random.ts'
import type { Lane } from '#shared/capture/lane.ts'
import type { Arrival } from '#cli/simulation/simulate.ts'

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

/** Alternates between two states of exponentially distributed lengths. */
const bursts = (random: Random, durationMs: number): number[] => {
  const times: number[] = []
  for (let atMs = 0, isBurst = false; atMs < durationMs; isBurst = !isBurst) {
    const toMs = Math.min(durationMs, atMs + exponential(random, isBurst ? 120_000 : 240_000))
    times.push(...poisson(random, { fromMs: atMs, toMs, perSecond: isBurst ? 20 : 1 }))
    atMs = toMs
  }
  return times
}

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

/** Shapes of load, each with captures of 2 s on average. */
export const traces = {
  steady: trace((random, toMs) => poisson(random, { fromMs: 0, toMs, perSecond: 10 })),
  diurnal: trace((random, toMs) => varying(random, toMs, 20, (atMs) => 9 - 8 * Math.cos((2 * Math.PI * atMs) / toMs))),
  bursts: trace(bursts),
  flash: trace((random, toMs) =>
    varying(random, toMs, 30, (atMs) =>
      atMs % (toMs / 2) > toMs / 4 && atMs % (toMs / 2) < toMs / 4 + 300_000 ? 30 : 2,
    ),
  ),
  clumps: trace((random, toMs) => clumps(random, toMs, { meanGapMs: 60_000, least: 20, most: 100 })),
  sparse: trace((random, toMs) => clumps(random, toMs, { meanGapMs: 240_000, least: 1, most: 8 })),
} as const satisfies Readonly<Record<string, Trace>>

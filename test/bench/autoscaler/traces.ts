import { logNormal, poisson, seededRandom } from '#cli/simulation/random.ts'
import type { Arrival } from '#cli/simulation/pods.ts'

const hourMs = 3_600_000
/** Log-normal service times. */
const serviceMeanMs = 2000
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
  { hours = 1.5, sigma = serviceSigma }: { readonly hours?: number; readonly sigma?: number } = {},
): Trace => ({
  durationMs: hours * hourMs,
  create: (seed) => {
    const random = seededRandom(seed)
    return times(random, hours * hourMs).map((atMs) => ({
      atMs,
      lane: 'interactive',
      // The mean stays two seconds.
      serviceMs: logNormal(random, serviceMeanMs * Math.exp(-(sigma ** 2) / 2), sigma),
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

/**
 * Forty callers who are on and off for times of a Pareto distribution (shape 1.5), with rates of a log-normal one: few send most, and the sum
 * stays bursty over every horizon, as in the traces of Azure Functions (Shahrad et al. 2020, Zhang et al. 2021).
 */
const callers = (random: Random, durationMs: number): number[] => {
  const pareto = (leastMs: number) => Math.min(leastMs * (1 - random()) ** (-1 / 1.5), durationMs)
  const timesOf = (perSecond: number) => {
    const times: number[] = []
    for (let atMs = -random() * 600_000, isOn = random() < 0.25; atMs < durationMs; isOn = !isOn) {
      const toMs = Math.min(durationMs, atMs + pareto(isOn ? 20_000 : 60_000))
      if (isOn && toMs > 0) times.push(...poisson(random, { fromMs: Math.max(0, atMs), toMs, perSecond }))
      atMs = toMs
    }
    return times
  }
  const all = Array.from({ length: 40 }, () => timesOf(Math.min(10, logNormal(random, 0.3, 1.2)))).flat()
  return all.toSorted((one, other) => one - other)
}

/**
 * A part comes all the time, the rest at full minutes within two seconds, more at every fifth minute and every half hour, as from timers:
 * periodic like the functions of Huawei's trace (Joosen et al. 2023).
 */
const timers = (random: Random, durationMs: number): number[] => {
  const times = poisson(random, { fromMs: 0, toMs: durationMs, perSecond: 3 })
  for (let minute = 1; minute * 60_000 < durationMs; minute += 1) {
    const size = minute % 30 === 0 ? 200 : minute % 5 === 0 ? 80 : 20
    for (let turn = 0; turn < size * (0.9 + 0.2 * random()); turn += 1) times.push(minute * 60_000 + random() * 2000)
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
  callers: trace(callers, { sigma: 1 }),
  timers: trace(timers),
} as const satisfies Readonly<Record<string, Trace>>

/** The load of `flash` on a day without crowds. */
export const calm = trace((random, toMs) => poisson(random, { fromMs: 0, toMs, perSecond: 2 }))

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

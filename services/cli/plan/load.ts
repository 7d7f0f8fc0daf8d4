import { UsageError } from '#cli/command/command.ts'
import { logNormal, poisson, seededRandom } from '#cli/simulation/random.ts'
import type { Load } from '#cli/simulation/forecast.ts'
import { warmUpMs } from '#cli/simulation/simulate.ts'
import { type Lane, lanes } from '#shared/capture/lane.ts'

/** Most captures of a load, and the longest one. */
const capturesMax = 150_000
const longestMs = 3_600_000
const traceMaxMs = 86_400_000
const [perSecondMin, perSecondMax] = [10 / 3600, 1000]

/** Shape of the log-normal service times of a stated mean: the 95th percentile is 1.9 times the mean. */
const sigma = 0.46

/** A capture of a trace: seconds since the start, and milliseconds in its worker if the trace states them. */
export type TraceLine = { readonly seconds: number; readonly lane: Lane; readonly serviceMs: number | undefined }

const units: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 }

/** Parses a rate such as `50/s`, `3000/min` or `100000/h` to captures a second. Throws `UsageError` that names the bounds. */
export const parseRate = (text: string): number => {
  const [, count = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,6})?)\/(s|min|h)$/.exec(text) ?? []
  const perSecond = Number(count) / (units[unit] ?? Number.NaN)
  if (perSecond >= perSecondMin && perSecond <= perSecondMax) return perSecond
  throw new UsageError(
    `--rate ${text}: must be captures in a time such as 50/s, 3000/min or 100000/h, from 10/h to ${perSecondMax}/s`,
  )
}

/** Parses a line of a trace without spaces; undefined if it is invalid. */
const parseLine = (line: string, otherwise: Lane): TraceLine | undefined => {
  const [, seconds = '', name = otherwise, service] =
    /^(\d{1,6}(?:\.\d{1,24})?)(?:,(\w+)(?:,(\d{1,3}(?:\.\d{1,6})?))?)?$/.exec(line) ?? []
  const lane = lanes.find((each) => each === name)
  const serviceMs = service === undefined ? undefined : Number(service) * 1000
  if (seconds === '' || Number(seconds) * 1000 > traceMaxMs || !lane || serviceMs === 0) return undefined
  return { seconds: Number(seconds), lane, serviceMs }
}

/**
 * Parses a trace with one capture per line: seconds since the start and, after commas, its lane, else `lane`, and its seconds in a worker.
 * Skips empty lines and comments, which begin with `#`. Throws `UsageError` that names the line.
 */
export const parseTrace = (text: string, lane: Lane): readonly TraceLine[] => {
  const trace: TraceLine[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const content = line.trim()
    if (content === '' || content.startsWith('#')) continue
    const parsed = parseLine(content.replaceAll(/[ \t]/g, ''), lane)
    if (!parsed) {
      const form = `must be seconds from 0 to ${traceMaxMs / 1000}, then optionally a lane (${lanes.join(', ')}) and seconds in the worker below 1000, separated by commas`
      throw new UsageError(`--trace, line ${index + 1}: ${content.slice(0, 100)}: ${form}`)
    }
    trace.push(parsed)
  }
  if (trace.length > 0 && trace.length <= capturesMax)
    return trace.toSorted((one, other) => one.seconds - other.seconds)
  throw new UsageError(`--trace: has ${trace.length} captures; must have 1 to ${capturesMax}`)
}

/** Service times in milliseconds: their mean, or measured ones, at least one. */
export type Services = number | readonly number[]

/** The mean in milliseconds. */
export const meanOf = (service: Services): number =>
  typeof service === 'number' ? service : service.reduce((sum, ms) => sum + ms, 0) / service.length

/** The same load gives the same plan. */
const seed = 1

/** Draws a time: of a log-normal distribution with that mean, or one of those that were measured. */
const serviceTimes = (service: Services, random: () => number): (() => number) => {
  if (typeof service !== 'number') return () => service[Math.floor(random() * service.length)] ?? 0
  const median = service * Math.exp(-(sigma ** 2) / 2)
  return () => logNormal(random, median, sigma)
}

/** A constant rate of independent captures: an hour of them, or as long as `capturesMax` take. */
export const loadOfRate = ({
  perSecond,
  lane,
  service,
}: {
  readonly perSecond: number
  readonly lane: Lane
  readonly service: Services
}): Load => {
  const random = seededRandom(seed)
  const serviceMs = serviceTimes(service, random)
  const durationMs = warmUpMs + Math.min(longestMs, (capturesMax / perSecond) * 1000)
  const arrivals = poisson(random, { fromMs: 0, toMs: durationMs, perSecond })
  return { arrivals: arrivals.map((atMs) => ({ atMs, lane, serviceMs: serviceMs() })), durationMs }
}

/** The captures of a trace, before which nothing runs; ends five minutes after the last one. */
export const loadOfTrace = (trace: readonly TraceLine[], service: Services): Load => {
  const serviceMs = serviceTimes(service, seededRandom(seed))
  const arrivals = trace.map((line) => ({
    atMs: warmUpMs + line.seconds * 1000,
    lane: line.lane,
    serviceMs: line.serviceMs ?? serviceMs(),
  }))
  return { arrivals, durationMs: (arrivals.at(-1)?.atMs ?? 0) + warmUpMs }
}

import { byLane, type Lane, lanes } from '#shared/capture/lane.ts'

/** Weight of the newest capture in the mean service time. */
const newestWeight = 0.1

/** Number of a lane's newest captures whose mean is its service time. */
const laneSamples = 20
/** Share of them, the longest, that count as no longer than the others. */
const longestShare = 0.05
/** The most that a heartbeat reports. */
const serviceMsMax = 600_000

/** Means of the time that captures take, in whole milliseconds. */
export type ServiceTime = {
  readonly add: (lane: Lane, tookMs: number) => void
  /** Exponentially weighted mean of all captures; undefined before the first. */
  readonly meanMs: () => number | undefined
  /** The clipped mean of each lane that had a capture. */
  readonly laneMs: () => Partial<Record<Lane, number>>
}

/**
 * The mean, with the longest of twenty as long as the longest of the others: a page that hangs until its timeout would raise it manifold, and
 * without the longest the load of ordinary pages would be underestimated.
 */
const clippedMean = (samples: readonly number[]): number => {
  const clipped = samples.length > 1 ? Math.ceil(samples.length * longestShare) : 0
  const most = samples.toSorted((one, other) => one - other)[samples.length - clipped - 1] ?? 0
  const sum = samples.reduce((total, each) => total + Math.min(each, most), 0)
  return Math.min(serviceMsMax, Math.ceil(sum / samples.length))
}

/** Creates a service time without captures. */
export const createServiceTime = (): ServiceTime => {
  let mean: number | undefined
  const samples = byLane((): number[] => [])
  return {
    add: (lane, tookMs) => {
      mean = mean === undefined ? tookMs : mean + (tookMs - mean) * newestWeight
      samples[lane].push(tookMs)
      if (samples[lane].length > laneSamples) samples[lane].shift()
    },
    meanMs: () => (mean === undefined ? undefined : Math.min(serviceMsMax, Math.round(mean))),
    laneMs: () =>
      Object.fromEntries(
        lanes.flatMap((lane) => (samples[lane].length > 0 ? [[lane, clippedMean(samples[lane])]] : [])),
      ),
  }
}

import { seeded } from '#test/helpers/seeded.ts'
import { quantile } from '#test/bench/quantile.ts'

/** What the rounds say of one measure: work over base. */
export type Comparison = {
  readonly ratio: number
  readonly from: number
  readonly to: number
  readonly verdict: 'better' | 'worse' | 'not distinguishable'
  /** The least difference, as a share of the base, that these rounds would have shown. */
  readonly resolution: number
  /** Number of rounds that were disturbed and say nothing. */
  readonly leftOut: number
}

const resamples = 4000
const seed = 1

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

const roundsMin = 5

const median = (values: readonly number[]) => quantile(values, 0.5)

/** Deviations from the median, in usual ones (1.4826 median absolute deviations), beyond which a round was disturbed. */
const usualDeviations = 8
const usual = 1.4826

/** Leaves out rounds in which something else took the machine: a single one would make the interval too wide to show anything. */
const undisturbed = (logRatios: readonly number[]) => {
  const middle = median(logRatios)
  const bound = usualDeviations * usual * median(logRatios.map((each) => Math.abs(each - middle)))
  return logRatios.filter((each) => Math.abs(each - middle) <= bound)
}

/** Mean and its standard error. */
const estimate = (values: readonly number[]) => {
  const middle = mean(values)
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0)
  return { middle, error: Math.sqrt(squares / (values.length - 1) / values.length) }
}

/**
 * Compares by the logarithms of a measure's ratios, one of each round, where less is better. The interval is a symmetric
 * bootstrap-t over rounds (Hall 1988): with the few rounds that time allows, percentiles of resampled means are too narrow.
 * `error` is the share of comparisons of two equal versions that may be called different. Throws on fewer than 5 undisturbed rounds.
 */
export const compareRounds = (all: readonly number[], error: number): Comparison => {
  const logRatios = undisturbed(all)
  const rounds = logRatios.length
  if (rounds < roundsMin) throw new RangeError(`${rounds} rounds, an interval takes at least ${roundsMin} rounds`)
  const random = seeded(seed)
  const { middle, error: standardError } = estimate(logRatios)
  const distances = Array.from({ length: resamples }, () => {
    const resampled = estimate(Array.from({ length: rounds }, () => logRatios[random(rounds)] ?? 0))
    return Math.abs(resampled.middle - middle) / resampled.error
    // All draws of one round have no error and say nothing.
  }).filter((distance) => Number.isFinite(distance))
  const half = quantile(distances, 1 - error) * standardError
  const verdict = middle > half ? 'worse' : middle < -half ? 'better' : 'not distinguishable'
  return {
    ratio: Math.exp(middle),
    from: Math.exp(middle - half),
    to: Math.exp(middle + half),
    verdict,
    resolution: Math.exp(half) - 1,
    leftOut: all.length - rounds,
  }
}

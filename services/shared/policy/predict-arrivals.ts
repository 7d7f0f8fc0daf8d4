import type { Lane } from '#shared/capture/lane.ts'

/** The unit of time of counts and predictions. */
export const minuteMs = 60_000

/** Lanes whose captures are predicted. A batch may wait for longer than a start takes. */
export const predictedLanes = ['interactive', 'normal'] as const satisfies readonly Lane[]

/** Minutes that are predicted, beginning with the present one: no start is prepared for earlier. */
export const predictedMinutes = 11

/** Captures by lane and minute, the first of which is the present one, and the milliseconds of it that have passed. */
export type Prediction = {
  readonly intoMinuteMs: number
  readonly lanes: Readonly<Partial<Record<Lane, number[]>>>
}

/** Arrivals that came in at least `least` of the last `periods` periods are expected again. */
type Pattern = { readonly periodMinutes: number; readonly periods: number; readonly least: number }

/** What comes by chance in three of ten minutes fulfils each of them less than once in a hundred times. */
const patterns: readonly Pattern[] = [
  { periodMinutes: 60, periods: 24, least: 22 },
  { periodMinutes: 24 * 60, periods: 7, least: 6 },
  { periodMinutes: 7 * 24 * 60, periods: 4, least: 4 },
]

/** How many minutes before the predicted one the arrivals are compared with. */
export const comparedMinutesAgo: readonly number[] = [
  ...new Set(
    patterns.flatMap(({ periodMinutes, periods }) =>
      Array.from({ length: periods }, (_, index) => (index + 1) * periodMinutes),
    ),
  ),
]

/** Days for which the counts of minutes are kept: the longest pattern, and a day. */
export const arrivalDays = 29

/**
 * Captures that will arrive in a minute, as far as an hourly, daily or weekly pattern shows it: as many as came in 22 of the last 24 hours,
 * 6 of the last 7 days, or all of the last 4 weeks at the same minute; the largest. A minute that was not counted counts as 0, so that
 * nothing is predicted without a pattern.
 */
export const predictArrivals = (arrivalsOf: (minutesAgo: number) => number | undefined): number =>
  Math.max(
    ...patterns.map(({ periodMinutes, periods, least }) => {
      const counts = Array.from({ length: periods }, (_, index) => arrivalsOf((index + 1) * periodMinutes) ?? 0)
      return counts.toSorted((one, other) => other - one)[least - 1] ?? 0
    }),
  )

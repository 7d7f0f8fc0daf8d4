import { type Lane, lanes } from '#shared/capture/lane.ts'

const median = (values: readonly number[]): number | undefined => {
  const sorted = values.toSorted((one, other) => one - other)
  const [low, high] = [sorted[Math.ceil(values.length / 2) - 1], sorted[Math.floor(values.length / 2)]]
  return low === undefined || high === undefined ? undefined : (low + high) / 2
}

/** Values by lane, those without a value missing. */
export type ByLane = Readonly<Partial<Record<Lane, number>>>

/** The median over workers, so that none with an unusual browser or page decides for all; lanes without a value are missing. */
export const medianByLane = (values: readonly ByLane[]): ByLane =>
  Object.fromEntries(
    lanes.flatMap((lane) => {
      const ms = median(values.flatMap((each) => each[lane] ?? []))
      return ms === undefined ? [] : [[lane, ms]]
    }),
  )

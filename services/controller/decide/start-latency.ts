/** Number of newest starts that are kept. */
const samplesMax = 20
const percentile = 0.9

/** p90 of start times. By the mean, every second worker would start later than expected. */
export type StartLatency = ReturnType<typeof createStartLatency>

/** Creates a window without any start. */
export const createStartLatency = () => {
  const samples: number[] = []
  return {
    add: (ms: number): void => {
      samples.push(ms)
      if (samples.length > samplesMax) samples.shift()
    },
    /** Milliseconds; undefined before the first start. */
    p90: (): number | undefined =>
      samples.toSorted((one, other) => one - other)[Math.ceil(samples.length * percentile) - 1],
  }
}

/** Starts that count: the newest. */
const samplesMax = 20
/** The part of them that took no longer. */
const part = 0.9

/** How long starts take, of which nine in ten are as fast: a mean would have every second worker come later than expected. */
export type StartLatency = ReturnType<typeof createStartLatency>

/** Begins without any start. */
export const createStartLatency = () => {
  const samples: number[] = []
  return {
    add: (ms: number): void => {
      samples.push(ms)
      if (samples.length > samplesMax) samples.shift()
    },
    /** Milliseconds; undefined before the first start. */
    p90: (): number | undefined => samples.toSorted((one, other) => one - other)[Math.ceil(samples.length * part) - 1],
  }
}

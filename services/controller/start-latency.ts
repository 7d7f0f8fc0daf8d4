/** Starts that count: the newest. */
const samplesMax = 20
/** The part of them that took no longer. */
const part = 0.9

/** How long starts take, of which nine in ten are as fast: a mean would have every second worker come later than expected. */
export type StartLatency = {
  readonly add: (ms: number) => void
  /** Milliseconds; undefined before the first start. */
  readonly p90: () => number | undefined
}

/** Begins without any start. */
export const createStartLatency = (): StartLatency => {
  const samples: number[] = []
  return {
    add: (ms) => {
      samples.push(ms)
      if (samples.length > samplesMax) samples.shift()
    },
    p90: () => samples.toSorted((one, other) => one - other)[Math.ceil(samples.length * part) - 1],
  }
}

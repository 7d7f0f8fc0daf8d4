import { percentile } from './percentile.ts'

/** Number of newest starts that are kept. */
const samplesMax = 20

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
    p90: (): number | undefined => percentile(samples, 0.9),
  }
}

/** Weight of the newest capture in the mean service time. */
const newestWeight = 0.1

/** The mean time that captures take, newer ones counting more. */
export type ServiceTime = { readonly add: (tookMs: number) => void; readonly meanMs: () => number | undefined }

/** Begins without a mean. */
export const createServiceTime = (): ServiceTime => {
  let mean: number | undefined
  return {
    add: (tookMs) => {
      mean = mean === undefined ? tookMs : mean + (tookMs - mean) * newestWeight
    },
    meanMs: () => (mean === undefined ? undefined : Math.round(mean)),
  }
}

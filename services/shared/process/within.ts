import { startDeadline } from '#shared/config/stalls.ts'

/**
 * Waits at most `waitMs`, in which this process runs, for `work`, then throws the error of `tooLate` and ignores the outcome of
 * `work`.
 */
export const within = async <T>(work: Promise<T>, waitMs: number, tooLate: () => Error): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>()
  using _deadline = startDeadline(waitMs, () => reject(tooLate()))
  work.catch(() => {})
  return await Promise.race([work, promise])
}

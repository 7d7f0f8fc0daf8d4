/** Waits for `work` for at most `waitMs`, then throws what `tooLate` makes. What becomes of `work` later is ignored. */
export const within = async <T>(work: Promise<T>, waitMs: number, tooLate: () => Error): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(tooLate()), waitMs)
  work.catch(() => {})
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

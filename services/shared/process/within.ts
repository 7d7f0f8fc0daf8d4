/** Waits at most `waitMs` for `work`, then throws the error of `tooLate` and ignores the outcome of `work`. */
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

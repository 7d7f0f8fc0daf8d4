/** A bound on concurrent requests, in total and per account. */
export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>

/** Allows `max` slots in total and `accountMax` per account, which may depend on how many accounts would hold slots. */
export const createConcurrencyLimit = (bounds: {
  readonly max: number
  readonly accountMax: number | ((accounts: number) => number)
}) => {
  const { max, accountMax } = bounds
  const accountMaxOf = typeof accountMax === 'number' ? () => accountMax : accountMax
  const held = new Map<string, number>()
  let count = 0
  const release = (accountId: string) => {
    const left = (held.get(accountId) ?? 0) - 1
    if (left > 0) held.set(accountId, left)
    else held.delete(accountId)
    count -= 1
  }
  return {
    count: () => count,
    /** Takes a slot until it is disposed; disposing twice is harmless. At a bound, returns which one. */
    take: (accountId: string): Disposable | 'account' | 'all' => {
      const accountCount = held.get(accountId) ?? 0
      if (accountCount >= accountMaxOf(held.size + (accountCount === 0 ? 1 : 0))) return 'account'
      if (count >= max) return 'all'
      held.set(accountId, accountCount + 1)
      count += 1
      let isHeld = true
      return {
        [Symbol.dispose]: () => {
          if (isHeld) release(accountId)
          isHeld = false
        },
      }
    },
  }
}

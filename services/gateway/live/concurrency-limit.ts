/** A bound on what runs at once, of all and of one account. */
export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>

/** At most `max`, of which one account has at most `accountMax`, by how many accounts there then are. */
export const createConcurrencyLimit = (bounds: {
  readonly max: number
  readonly accountMax: number | ((accounts: number) => number)
}) => {
  const { max, accountMax } = bounds
  const mostOf = typeof accountMax === 'number' ? () => accountMax : accountMax
  const held = new Map<string, number>()
  let count = 0
  const leave = (accountId: string) => {
    const left = (held.get(accountId) ?? 0) - 1
    if (left > 0) held.set(accountId, left)
    else held.delete(accountId)
    count -= 1
  }
  return {
    count: () => count,
    /** Counts one more until it is disposed, once or again; at a bound, returns whose it is. */
    take: (accountId: string): Disposable | 'account' | 'all' => {
      const own = held.get(accountId) ?? 0
      if (own >= mostOf(held.size + (own === 0 ? 1 : 0))) return 'account'
      if (count >= max) return 'all'
      held.set(accountId, own + 1)
      count += 1
      let here = true
      return {
        [Symbol.dispose]: () => {
          if (here) leave(accountId)
          here = false
        },
      }
    },
  }
}

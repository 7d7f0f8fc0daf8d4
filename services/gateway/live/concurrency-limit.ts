/** A place that somebody holds; disposing it twice is harmless. */
export type Place = Disposable

/** A bounded number of places, so many of them at most for one account. */
export type ConcurrencyLimit = {
  /** Takes a place; where there is none, says whether it is the account's or everybody's that are taken. */
  readonly take: (accountId: string) => Place | 'account' | 'all'
  readonly count: () => number
}

/** Makes `max` places, of which one account holds at most `accountMax`. */
export const createConcurrencyLimit = ({ max, accountMax }: { max: number; accountMax: number }): ConcurrencyLimit => {
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
    take: (accountId) => {
      const own = held.get(accountId) ?? 0
      if (own >= accountMax) return 'account'
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

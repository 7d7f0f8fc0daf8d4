/** Addresses, and keys, that are remembered at one time; the one that was seen longest ago is forgotten first. */
const rememberedMax = 10_000

/** Bounds of wrong keys. */
export type GuessOptions = {
  /** Wrong keys of one address at once, and again in each minute. */
  readonly perMinute: number
  /** A clock that never goes back, in milliseconds. */
  readonly nowMs: () => number
}

/** Remembers from where wrong keys came, and which keys were good lately: those of others behind one address go on. */
export type KeyGuesses = {
  /** Whole seconds after which a key from there is looked at again; 0 where it is now. Both are only asked for where somebody guesses. */
  readonly waitSeconds: (client: () => string, key: () => string) => number
  readonly wasWrong: (client: string, key: string) => void
  readonly wasGood: (key: string) => void
}

const remember = <Value>(all: Map<string, Value>, name: string, value: Value) => {
  all.delete(name)
  all.set(name, value)
  const [oldest] = all.keys()
  if (all.size > rememberedMax && oldest !== undefined) all.delete(oldest)
}

/** Makes the memory of one gateway. Its size is bounded; what is refused costs nothing. Keys are named by their hash. */
export const createKeyGuesses = ({ perMinute, nowMs }: GuessOptions): KeyGuesses => {
  const wrong = new Map<string, { count: number; atMs: number }>()
  const good = new Map<string, true>()
  const perMs = perMinute / 60_000

  const countOf = (client: string): number => {
    const seen = wrong.get(client)
    return seen ? Math.max(0, seen.count - (nowMs() - seen.atMs) * perMs) : 0
  }

  return {
    waitSeconds: (client, key) => {
      if (wrong.size === 0) return 0
      const over = countOf(client()) - perMinute
      // One more would be within the bound only once the last is forgotten.
      return over <= -1 || good.has(key()) ? 0 : Math.ceil((over + 1) / perMs / 1000)
    },
    wasWrong: (client, key) => {
      good.delete(key)
      remember(wrong, client, { count: countOf(client) + 1, atMs: nowMs() })
    },
    wasGood: (key) => remember(good, key, true),
  }
}

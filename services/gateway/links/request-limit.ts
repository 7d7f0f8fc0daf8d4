/** Clients that are remembered at one time; the one that was seen longest ago is forgotten first. */
const clientsMax = 10_000

/** Bounds of one client: requests at once, and in the long run. */
export type LimitOptions = {
  readonly burst: number
  readonly perMinute: number
  /** A clock that never goes back, in milliseconds. */
  readonly nowMs: () => number
}

/** Counts a request of a client. Answers 0 where it may be served, else the whole seconds after which one may. */
export type RequestLimit = (client: string) => number

/** Makes a limit for each client: a bucket of `burst` requests that fills with `perMinute`. Memory is bounded; what is refused costs nothing. */
export const createRequestLimit = ({ burst, perMinute, nowMs }: LimitOptions): RequestLimit => {
  const buckets = new Map<string, { left: number; atMs: number }>()
  const perMs = perMinute / 60_000
  return (client) => {
    const now = nowMs()
    const bucket = buckets.get(client)
    const left = bucket ? Math.min(burst, bucket.left + (now - bucket.atMs) * perMs) : burst
    const passes = left >= 1
    buckets.delete(client)
    buckets.set(client, { left: passes ? left - 1 : left, atMs: now })
    const [oldest] = buckets.keys()
    if (buckets.size > clientsMax && oldest !== undefined) buckets.delete(oldest)
    return passes ? 0 : Math.ceil((1 - left) / perMs / 1000)
  }
}

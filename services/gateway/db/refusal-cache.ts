import type { AcceptOutcome } from './accept-capture.ts'
import type { Refusal } from '#shared/db/check-request.ts'
import { setWithEviction } from '#gateway/limits/set-with-eviction.ts'

/**
 * The inputs of the check of key, domain and minute limit; hash and host are the key of a cache entry. `accountId`: a session of
 * the console acts for this account, and `keyHash` is its hash.
 */
export type RequestIdentity = {
  readonly keyHash: Buffer
  readonly originHost: string | null
  readonly accountId?: string
}

/** How long a refusal is cached: the delay until a larger plan takes effect. */
const cacheMs = 1000
/** About 1 KiB each; the oldest is evicted. */
const entriesMax = 10_000

type CacheEntry = {
  readonly refusal: Refusal
  /** When the entry expires. */
  readonly untilMs: number
  /** Latest end of the rate limit's minute; undefined for a key that does not exist. */
  readonly endsMs: number | undefined
}

/** Caches refusals; see `createRefusalCache`. */
export type RefusalCache = ReturnType<typeof createRefusalCache>

const nameOf = ({ keyHash, originHost }: RequestIdentity) => `${keyHash.toString('latin1')} ${originHost ?? ''}`

const toCacheEntry = (refusal: Refusal, queriedMs: number, receivedMs: number): CacheEntry | undefined => {
  const { code, isUnknown, windowLeftMs } = refusal
  if (isUnknown) return { refusal, untilMs: queriedMs + cacheMs, endsMs: undefined }
  if (code !== 'RATE_LIMIT_EXCEEDED' || windowLeftMs === undefined) return undefined
  // The database read its clock between the two, so by our clock the window ends between these sums.
  return { refusal, untilMs: queriedMs + Math.min(cacheMs, windowLeftMs), endsMs: receivedMs + windowLeftMs }
}

/**
 * Creates a cache of refusals for unknown keys and exhausted minute limits, for at most a second and never beyond the
 * minute. Requests refused from it are not counted, which has no effect: their minute is exhausted. `nowMs` must be
 * monotonic.
 */
export const createRefusalCache = (nowMs: () => number) => {
  const entries = new Map<string, CacheEntry>()
  return {
    /** The cached refusal; undefined if the database must be queried. */
    find: (identity: RequestIdentity): Refusal | undefined => {
      if (entries.size === 0) return undefined
      const name = nameOf(identity)
      const entry = entries.get(name)
      if (entry === undefined) return undefined
      const { refusal, untilMs, endsMs } = entry
      const now = nowMs()
      if (now >= untilMs) {
        entries.delete(name)
        return undefined
      }
      if (endsMs === undefined) return refusal
      return { ...refusal, retryAfterSeconds: Math.max(1, Math.ceil((endsMs - now) / 1000)) }
    },
    /** Queries the database, and caches its refusal, unless a session is refused: the minute limits only its captures. */
    queryAndCache: async <Outcome extends AcceptOutcome | { readonly ok: true }>(
      identity: RequestIdentity,
      query: () => Promise<Outcome | Refusal>,
    ): Promise<Outcome | Refusal> => {
      const queriedMs = nowMs()
      const outcome = await query()
      const isCached = !outcome.ok && identity.accountId === undefined
      const entry = isCached ? toCacheEntry(outcome, queriedMs, nowMs()) : undefined
      if (entry) setWithEviction(entries, nameOf(identity), entry, entriesMax)
      return outcome
    },
  }
}

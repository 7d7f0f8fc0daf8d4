import type { AcceptOutcome } from '#gateway/db/accept-capture.ts'
import type { Refusal } from '#shared/db/check-request.ts'
import { remember } from '#gateway/http/remember.ts'

/** The inputs of the check of key, domain and minute limit; the key of a cache entry. */
export type Asker = { readonly keyHash: Buffer; readonly originHost: string | null }

/** How long a refusal is cached: the delay until a larger plan takes effect. */
const memoryMs = 1000
/** About 1 KiB each; the oldest is evicted. */
const askersMax = 10_000

type Remembered = {
  readonly refusal: Refusal
  /** When the entry expires. */
  readonly untilMs: number
  /** Latest end of the rate limit's minute; undefined for a key that does not exist. */
  readonly endsMs: number | undefined
}

const nameOf = ({ keyHash, originHost }: Asker) => `${keyHash.toString('latin1')} ${originHost ?? ''}`

const toRemembered = (refusal: Refusal, askedMs: number, answeredMs: number): Remembered | undefined => {
  const { code, isUnknown, windowLeftMs } = refusal
  if (isUnknown) return { refusal, untilMs: askedMs + memoryMs, endsMs: undefined }
  if (code !== 'RATE_LIMIT_EXCEEDED' || windowLeftMs === undefined) return undefined
  // The database read its clock between the two, so by our clock the window ends between these sums.
  return { refusal, untilMs: askedMs + Math.min(memoryMs, windowLeftMs), endsMs: answeredMs + windowLeftMs }
}

/**
 * Creates a cache of refusals for unknown keys and exhausted minute limits, for at most a second and never beyond the
 * minute. Requests refused from it are not counted, which has no effect: their minute is exhausted. `nowMs` must be
 * monotonic.
 */
export const createRefusalMemory = (nowMs: () => number) => {
  const known = new Map<string, Remembered>()
  return {
    /** The cached refusal; undefined if the database must be queried. */
    find: (asker: Asker): Refusal | undefined => {
      if (known.size === 0) return undefined
      const name = nameOf(asker)
      const remembered = known.get(name)
      if (remembered === undefined) return undefined
      const { refusal, untilMs, endsMs } = remembered
      const now = nowMs()
      if (now >= untilMs) {
        known.delete(name)
        return undefined
      }
      if (endsMs === undefined) return refusal
      return { ...refusal, retryAfterSeconds: Math.max(1, Math.ceil((endsMs - now) / 1000)) }
    },
    /** Queries the database, and caches its refusal. */
    watch: async <Outcome extends AcceptOutcome | { readonly ok: true }>(
      asker: Asker,
      ask: () => Promise<Outcome | Refusal>,
    ): Promise<Outcome | Refusal> => {
      const askedMs = nowMs()
      const outcome = await ask()
      const remembered = outcome.ok ? undefined : toRemembered(outcome, askedMs, nowMs())
      if (remembered) remember(known, nameOf(asker), remembered, askersMax)
      return outcome
    },
  }
}

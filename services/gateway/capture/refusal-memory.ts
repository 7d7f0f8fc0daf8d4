import type { AcceptOutcome } from '#gateway/db/accept-capture.ts'
import type { Refusal } from '#shared/db/check-request.ts'
import { remember } from '#gateway/http/remember.ts'

/** What a verdict on key and minute depends on. */
export type Asker = { readonly keyHash: Buffer; readonly originHost: string | null }

/** How long a refusal is taken for granted: a plan with more is seen after this. */
const memoryMs = 1000
/** About 1 KiB each; the oldest makes room. */
const askersMax = 10_000

type Remembered = {
  readonly refusal: Refusal
  /** From when on it may be over. */
  readonly untilMs: number
  /** When the minute ends at the latest; undefined for a key that does not exist. */
  readonly endsMs: number | undefined
}

const nameOf = ({ keyHash, originHost }: Asker) => `${keyHash.toString('latin1')} ${originHost ?? ''}`

const toRemembered = (refusal: Refusal, askedMs: number, answeredMs: number): Remembered | undefined => {
  const { code, isUnknown, windowLeftMs } = refusal
  if (isUnknown) return { refusal, untilMs: askedMs + memoryMs, endsMs: undefined }
  if (code !== 'RATE_LIMIT_EXCEEDED' || windowLeftMs === undefined) return undefined
  // The database looked at its clock between the two, so the window ends between these sums, by our clock.
  return { refusal, untilMs: askedMs + Math.min(memoryMs, windowLeftMs), endsMs: answeredMs + windowLeftMs }
}

/**
 * Makes a memory of refusals for keys that do not exist and minutes that are used up, for a second at most and never
 * beyond the minute. Such requests are not counted, which shows nowhere: nothing remains of their minute. `nowMs` never
 * goes back.
 */
export const createRefusalMemory = (nowMs: () => number) => {
  const known = new Map<string, Remembered>()
  return {
    /** The refusal that a request of this asker meets now, if it is known. */
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
    /** Asks the database, and remembers its refusal. */
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

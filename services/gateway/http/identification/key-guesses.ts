import { AppError } from '#shared/errors/app-error.ts'
import type { Captures } from '#gateway/db/captures-in.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { remember } from '#gateway/http/remember.ts'
import type { Client, Clients } from './clients.ts'
import { createClientLimit } from './client-limit.ts'
import { keyOf } from './identify.ts'

/** Keys that are remembered at one time; the one that was seen longest ago is forgotten first. */
const keysMax = 10_000
/** For so long a key that was looked up and found invalid is not looked up again. */
const invalidMs = 1000
/** Keys that are looked up at one time although their client has no wrong key left. */
const lookupsMax = 500

/** Bounds of wrong keys. */
export type GuessOptions = {
  /** Wrong keys of one client at once, and again in each minute. */
  readonly perMinute: number
  /** A clock that never goes back, in milliseconds. */
  readonly nowMs: () => number
  /** Whether a key is valid now; many that are asked for at a time cost one read. */
  readonly isValid: (keyHash: Buffer) => Promise<boolean>
}

/** Takes note of what became of the key of a request that was admitted. */
export type SettleKey = (key: 'good' | 'wrong' | 'not judged') => void

/** Whether a request is admitted by its client's wrong keys; if not, after how long one will be. */
export type Admission = { readonly waitSeconds: number } | { readonly waitSeconds: 0; readonly settle: SettleKey }

/** Limits the wrong keys of each client, so that guesses cost the database little. */
export type KeyGuesses = ReturnType<typeof createKeyGuesses>

/**
 * Makes the limit of one gateway. A key that was good lately is always let in. Any other takes one of its client's tokens
 * before it is looked up, and returns it unless it was wrong, so guesses that come at once are bounded like those that come
 * one after the other. Where there is no token left the key is looked up together with all others of that moment, and let
 * in if it is valid: a key has 238 random bits, so what has to be limited is work for the database, and the neighbours of
 * an attacker behind one address are never refused for him.
 */
export const createKeyGuesses = ({ perMinute, nowMs, isValid }: GuessOptions) => {
  const limit = createClientLimit({ burst: perMinute, perMinute, nowMs })
  const good = new Map<string, true>()
  /** Until when a key is taken for invalid. */
  const invalidUntil = new Map<string, number>()
  let lookups = 0

  const isValidNow = async (keyHash: Buffer): Promise<boolean> => {
    if (lookups >= lookupsMax) return false
    lookups += 1
    try {
      const valid = await isValid(keyHash)
      if (!valid) remember(invalidUntil, keyHash.toString('latin1'), nowMs() + invalidMs, keysMax)
      return valid
    } finally {
      lookups -= 1
    }
  }
  const setGood = (name: string, isGood: boolean): void => {
    if (isGood) remember(good, name, true, keysMax)
    else good.delete(name)
  }

  return {
    /** `client` is only asked for where the key is not known to be good. */
    admit: async (keyHash: Buffer, client: () => Client): Promise<Admission> => {
      const name = keyHash.toString('latin1')
      const isKnown = good.has(name)
      const waitSeconds = isKnown ? 0 : limit.take(client())
      if (waitSeconds > 0) {
        const isInvalid = (invalidUntil.get(name) ?? 0) > nowMs()
        if (isInvalid || !(await isValidNow(keyHash))) return { waitSeconds }
        setGood(name, true)
      }
      const hasToken = !isKnown && waitSeconds === 0
      return {
        waitSeconds: 0,
        settle: (key) => {
          if (key !== 'not judged') setGood(name, key === 'good')
          if (hasToken && key !== 'wrong') limit.giveBack(client())
          if (!hasToken && key === 'wrong') limit.take(client())
        },
      }
    },
  }
}

/**
 * Admits a request unless too many wrong keys came from its client: then it throws `RATE_LIMIT_EXCEEDED`. What has no key of
 * the right form is refused without the database anyway, and not counted.
 */
export const admitKey = async (
  deps: {
    readonly keyGuesses: KeyGuesses
    readonly captures: Pick<Captures, 'hashKey'>
    readonly clients: Pick<Clients, 'find'>
  },
  exchange: Exchange,
): Promise<SettleKey> => {
  const key = keyOf(exchange.headers)
  if (key === undefined) return () => {}
  const admission = await deps.keyGuesses.admit(deps.captures.hashKey(key), () => deps.clients.find(exchange))
  if ('settle' in admission) return admission.settle
  const { waitSeconds: retryAfterSeconds } = admission
  const publicMessage = `Too many wrong API keys from this address; try again in ${retryAfterSeconds} seconds.`
  throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage, retryAfterSeconds })
}

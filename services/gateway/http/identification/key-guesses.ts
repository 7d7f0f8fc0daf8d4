import { AppError } from '#shared/errors/app-error.ts'
import type { Client } from '#shared/policy/client.ts'
import { clientHolders, Shares } from '#shared/policy/shares.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { setWithEviction } from '#gateway/limits/set-with-eviction.ts'
import type { Clients } from './clients.ts'
import { createClientLimit } from './client-limit.ts'
import { type HashKey, keyOf } from './identify.ts'

/** Maximum of keys in each table; the least recently seen one is evicted. */
const keysMax = 10_000
/** How long the lookup of an invalid key is cached. */
const invalidMs = 1000
/** Maximum of concurrent lookups for clients without tokens; a client gets a share. */
const lookupsMax = 500

/** Bounds on wrong keys. */
export type GuessOptions = {
  /** Token bucket for wrong keys of one client: burst and refill per minute. */
  readonly perMinute: number
  /** A monotonic clock, in milliseconds. */
  readonly nowMs: () => number
  /** Whether a key is valid now; concurrent lookups are batched into one read. */
  readonly isValid: (keyHash: Buffer) => Promise<boolean>
}

/** Records the result for the key of an admitted request; `unchecked` if the request failed before the key was checked. */
export type SettleKey = (key: 'good' | 'wrong' | 'unchecked') => void

/** Admitted if `waitSeconds` is 0; otherwise the time until the client has a token again. */
export type Admission = { readonly waitSeconds: number } | { readonly waitSeconds: 0; readonly settle: SettleKey }

/** Limits the wrong keys of each client, so that guesses cost the database little. */
export type KeyGuesses = ReturnType<typeof createKeyGuesses>

/**
 * Creates the limit of one gateway. A recently valid key is always admitted. Any other takes one of its client's tokens
 * before it is checked, and returns it unless the key was wrong, so concurrent guesses are bounded like sequential ones.
 * Without a token the key is looked up in a batch with others, and admitted if it is valid: a key has 238 random bits,
 * so only the load on the database has to be limited, and valid clients that share an address with an attacker are not
 * refused.
 */
export const createKeyGuesses = ({ perMinute, nowMs, isValid }: GuessOptions) => {
  const limit = createClientLimit({ burst: perMinute, perMinute, nowMs })
  const validKeys = new Map<string, true>()
  /** When the cached result for an invalid key expires. */
  const invalidUntil = new Map<string, number>()
  const lookups = new Shares(lookupsMax)

  const isValidNow = async (keyHash: Buffer, client: Client): Promise<boolean> => {
    const place = lookups.take(1, clientHolders(client))
    if (typeof place === 'string') return false
    using _held = place
    const valid = await isValid(keyHash)
    if (!valid) setWithEviction(invalidUntil, keyHash.toString('latin1'), nowMs() + invalidMs, keysMax)
    return valid
  }
  const setValid = (name: string, valid: boolean): void => {
    if (valid) setWithEviction(validKeys, name, true, keysMax)
    else validKeys.delete(name)
  }

  return {
    /** `client` is not called for a key that was valid recently and still is. */
    admit: async (keyHash: Buffer, client: () => Client): Promise<Admission> => {
      const name = keyHash.toString('latin1')
      const wasValid = validKeys.has(name)
      const waitSeconds = wasValid ? 0 : limit.take(client())
      if (waitSeconds > 0) {
        const isInvalid = (invalidUntil.get(name) ?? 0) > nowMs()
        if (isInvalid || !(await isValidNow(keyHash, client()))) return { waitSeconds }
        setValid(name, true)
      }
      const hasToken = !wasValid && waitSeconds === 0
      return {
        waitSeconds: 0,
        settle: (key) => {
          if (key !== 'unchecked') setValid(name, key === 'good')
          if (hasToken && key !== 'wrong') limit.giveBack(client())
          if (!hasToken && key === 'wrong') limit.take(client())
        },
      }
    },
  }
}

/**
 * Admits a request. Throws `RATE_LIMIT_EXCEEDED` if its client sent too many wrong keys. Requests without a well-formed key
 * are not counted, because they are refused without a database read.
 */
export const admitKey = async (
  deps: {
    readonly keyGuesses: KeyGuesses
    readonly hashKey: HashKey
    readonly clients: Pick<Clients, 'find'>
  },
  exchange: Exchange,
): Promise<SettleKey> => {
  const key = keyOf(exchange.headers)
  if (key === undefined) return () => {}
  const admission = await deps.keyGuesses.admit(deps.hashKey(key), () => deps.clients.find(exchange))
  if ('settle' in admission) return admission.settle
  const { waitSeconds: retryAfterSeconds } = admission
  const publicMessage = `Too many wrong API keys from this address; try again in ${retryAfterSeconds} seconds.`
  throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage, retryAfterSeconds })
}

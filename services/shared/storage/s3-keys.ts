import { AppError } from '#shared/errors/app-error.ts'
import { backOffMs } from '#shared/policy/back-off.ts'

/** Keys that sign requests to an S3-compatible store; temporary ones have a session token. */
export type S3Keys = {
  readonly accessKey: string
  readonly secretKey: string
  readonly sessionToken?: string | undefined
}

/** Keys, and when they expire, in milliseconds of the wall clock; undefined: never, or it is not known. */
export type IssuedKeys = { readonly keys: S3Keys; readonly expiresAtMs?: number | undefined }

/** Reads or requests keys, in bounded time. */
export type KeySource = () => Promise<IssuedKeys>

/** Which keys to sign with at present. */
export type KeyRing = {
  /** The same object until the keys change. Throws `SERVICE_UNAVAILABLE` if none are valid. */
  readonly current: () => Promise<S3Keys>
  /** Reports that the store does not accept these keys; resolves once they are renewed, if possible. Never throws. */
  readonly refused: (keys: S3Keys) => Promise<void>
}

/** Keys that never change. */
export const fixedKeys = (keys: S3Keys): KeyRing => ({ current: async () => keys, refused: async () => {} })

/** Keys are not used in their last seconds: a request may arrive late, and clocks differ. */
const marginMs = 10_000
const retry = { firstMs: 500, lastMs: 30_000 }
/** A refusal may have another cause than the keys, so it renews them at most this often. */
const refusalMs = 10_000

type Options = {
  readonly source: KeySource
  /** Longest time between two readings of the source; undefined: only expiry and refusals renew the keys. */
  readonly recheckMs?: number | undefined
  /** Keys were obtained, which expire at this time. */
  readonly renewed?: ((expiresAtMs?: number) => void) | undefined
  /** A renewal failed. */
  readonly failed?: ((cause: unknown) => void) | undefined
  readonly nowMs?: () => number
  readonly random?: () => number
}

const isSame = (one: S3Keys, other: S3Keys) =>
  one.accessKey === other.accessKey && one.secretKey === other.secretKey && one.sessionToken === other.sessionToken

/**
 * Keys that are renewed, one renewal at a time. Renewal begins after half of their remaining time, or up to a tenth later so that
 * replicas do not renew together: if the source then issues new ones, an address that is signed with them stays valid for at
 * least four tenths. Meanwhile, and while renewals fail (retried after 0.5 s, doubled up to 30 s), the current keys are used
 * until they expire. With `recheckMs` a use waits for a renewal that is due: a removed key is not used again.
 */
export class RenewedKeys implements KeyRing {
  readonly #source: KeySource
  readonly #recheckMs: number
  readonly #renewed: Options['renewed']
  readonly #failed: Options['failed']
  readonly #nowMs: () => number
  readonly #random: () => number
  #keys: S3Keys | undefined
  #usableUntilMs = 0
  #renewAtMs = 0
  #failures = 0
  #renewal: Promise<void> | undefined
  #refusalsCountFromMs = 0
  #fault: unknown = 'no keys yet'

  constructor(options: Options) {
    this.#source = options.source
    this.#recheckMs = options.recheckMs ?? Infinity
    this.#renewed = options.renewed
    this.#failed = options.failed
    this.#nowMs = options.nowMs ?? Date.now
    this.#random = options.random ?? Math.random
  }

  async current(): Promise<S3Keys> {
    if (this.#nowMs() >= this.#renewAtMs) this.#renewal ??= this.#renew()
    if (this.#recheckMs < Infinity || !this.#usable()) await this.#renewal
    const keys = this.#usable()
    if (keys) return keys
    const message = `object store: no valid keys: ${String(this.#fault)}`
    throw new AppError('SERVICE_UNAVAILABLE', { message, cause: this.#fault })
  }

  async refused(keys: S3Keys): Promise<void> {
    const nowMs = this.#nowMs()
    if (keys !== this.#keys) return
    if (nowMs >= this.#refusalsCountFromMs) {
      this.#refusalsCountFromMs = nowMs + refusalMs
      this.#renewal ??= this.#renew()
    }
    await this.#renewal
  }

  #usable(): S3Keys | undefined {
    return this.#nowMs() < this.#usableUntilMs ? this.#keys : undefined
  }

  async #renew(): Promise<void> {
    try {
      const issued = await this.#source()
      const { keys, expiresAtMs = Infinity } = issued
      const nowMs = this.#nowMs()
      if (expiresAtMs - marginMs <= nowMs) throw new Error('they have expired')
      const halfMs = (expiresAtMs - nowMs) * (0.5 + this.#random() / 10)
      if (!this.#keys || !isSame(keys, this.#keys)) this.#keys = keys
      this.#usableUntilMs = expiresAtMs - marginMs
      this.#renewAtMs = nowMs + Math.min(halfMs, this.#recheckMs)
      this.#failures = 0
      this.#renewed?.(issued.expiresAtMs)
    } catch (error) {
      this.#fault = error
      this.#renewAtMs = this.#nowMs() + backOffMs(retry, this.#failures)
      this.#failures += 1
      this.#failed?.(error)
    } finally {
      this.#renewal = undefined
    }
  }
}

import type { AppError } from '#shared/errors/app-error.ts'
import { catalog } from '#shared/errors/catalog.ts'
import { toRequestError } from '#gateway/http/errors.ts'
import { setWithEviction } from '#gateway/limits/set-with-eviction.ts'

/** Links whose refusals are cached; the oldest is evicted. */
const refusalsMax = 10_000
/** How long a refusal is cached unless it names a time, in seconds. */
const refusedSeconds = 30

/** The capture that was accepted; `isOwn`: by this call. */
type Attempt = { readonly id: string; readonly isOwn: boolean }

/**
 * Has captures of links accepted, each once for all concurrent views of one gateway. A refusal is cached, so that views of a link whose
 * account has no quota left do not use up its minute limit. `nowMs` must be monotonic.
 */
export class LinkAttempts {
  readonly #nowMs: () => number
  readonly #running = new Map<string, Promise<string>>()
  readonly #refusals = new Map<string, { readonly error: AppError; readonly untilMs: number }>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** `accept` resolves to the id of the accepted capture. Throws what it throws, without facts of the account: the viewer is anybody. */
  async accept(name: string, accept: () => Promise<string>): Promise<Attempt> {
    const refusal = this.#refusals.get(name)
    if (refusal && refusal.untilMs > this.#nowMs()) throw refusal.error
    const running = this.#running.get(name)
    if (running) return { id: await running, isOwn: false }
    const own = accept().catch((thrown: unknown) => this.#refuse(name, toRequestError(thrown).error))
    this.#running.set(name, own)
    try {
      return { id: await own, isOwn: true }
    } finally {
      this.#running.delete(name)
    }
  }

  #refuse(name: string, error: AppError): never {
    if (catalog[error.code].status < 500) {
      const seconds = error.retryAfterSeconds ?? refusedSeconds
      setWithEviction(this.#refusals, name, { error, untilMs: this.#nowMs() + seconds * 1000 }, refusalsMax)
    }
    throw error
  }
}

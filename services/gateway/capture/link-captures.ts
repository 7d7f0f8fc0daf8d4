import { createHash, randomUUIDv7 } from 'node:crypto'
import type { Lane } from '#shared/capture/lane.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { catalog } from '#shared/errors/catalog.ts'
import { type Rendering, releaseFailed } from '#gateway/db/render-links.ts'
import { toRequestError } from '#gateway/http/errors.ts'
import { setWithEviction } from '#gateway/limits/set-with-eviction.ts'
import type { ParsedCapture } from '#gateway/parameters/parse-capture.ts'
import { createCapture, type CreateDependencies } from './create-capture.ts'

/** Links whose refusals are cached; the oldest is evicted. */
const refusalsMax = 10_000
/** How long a refusal is cached unless it names a time, in seconds: no view of the link asks for a capture until then. */
const refusedSeconds = 30

/** A link whose capture a view asks for. */
export type LinkCapture = {
  readonly parsed: ParsedCapture
  readonly originHost: string | null
  readonly lane: Lane
  readonly traceparent: string | undefined
}

/** The capture that a view caused or found; `isNew`: its request is the one that had it accepted. */
export type FoundLinkCapture = { readonly id: string; readonly isNew: boolean }

type Refusal = { readonly error: AppError; readonly untilMs: number }

/**
 * Accepts the captures of links: one for all views that find the same state. Views of one gateway share a call, those of several
 * gateways an idempotency key, which names the capture that is replaced. A refusal is cached, so that views of a link whose account
 * has no quota left do not use up its minute limit.
 */
export class LinkCaptures {
  readonly #nowMs: () => number
  readonly #accepting = new Map<string, Promise<string>>()
  readonly #refusals = new Map<string, Refusal>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Throws what accepting a capture throws, without facts of the account: the viewer is anybody. */
  async accept(deps: CreateDependencies, rendering: Rendering, link: LinkCapture): Promise<FoundLinkCapture> {
    const name = `${rendering.accountId} ${rendering.attemptKey}`
    const refusal = this.#refusals.get(name)
    if (refusal && refusal.untilMs > this.#nowMs()) throw refusal.error
    const running = this.#accepting.get(name)
    if (running) return { id: await running, isNew: false }
    const accepted = this.#accept(deps, rendering, { ...link, name })
    this.#accepting.set(name, accepted)
    try {
      return { id: await accepted, isNew: true }
    } finally {
      this.#accepting.delete(name)
    }
  }

  async #accept(
    deps: CreateDependencies,
    rendering: Rendering,
    { name, parsed, originHost, lane, traceparent }: LinkCapture & { readonly name: string },
  ): Promise<string> {
    const { keyHash, attemptKey: key } = rendering
    const idempotency = { key, requestSha256: createHash('sha256').update(key).digest() }
    const request = { keyHash, originHost, parsed, idempotency, caller: undefined }
    try {
      await releaseFailed(deps.database, rendering)
      const { id } = await createCapture(deps, { id: randomUUIDv7(), lane, request, traceparent })
      return id
    } catch (thrown) {
      const { error } = toRequestError(thrown)
      if (catalog[error.code].status < 500) {
        const seconds = error.retryAfterSeconds ?? refusedSeconds
        setWithEviction(this.#refusals, name, { error, untilMs: this.#nowMs() + seconds * 1000 }, refusalsMax)
      }
      throw error
    }
  }
}

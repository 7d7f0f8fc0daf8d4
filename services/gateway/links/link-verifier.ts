import type { DeriveLinkSecret } from '#shared/db/link-secrets.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Client } from '#shared/policy/client.ts'
import { clientHolders, Shares } from '#shared/policy/shares.ts'
import type { LinkNonces } from '#gateway/db/render-links.ts'
import type { createClientLimit } from '#gateway/http/identification/client-limit.ts'
import { setWithEviction } from '#gateway/limits/set-with-eviction.ts'
import { isSignedBy, type RenderLink } from './render-link.ts'

/** Keys whose nonces are cached; the least recently verified one is evicted. */
const keysMax = 10_000
/** Maximum of concurrent lookups of keys that are not cached; a client gets a share. */
const lookupsMax = 500
const retrySeconds = 5

const forged = () =>
  new AppError('INVALID_SIGNATURE', {
    publicMessage:
      'The signature of the link is not valid: a parameter was changed, added or removed after signing, it was signed with another secret, or its key is not valid.',
  })

type Dependencies = {
  readonly derive: DeriveLinkSecret
  /** Undefined if links of the key are not served; concurrent lookups are batched into one read. */
  readonly findKey: (keyId: string) => Promise<LinkNonces | undefined>
  /** Wrong signatures that one client may send. */
  readonly limit: ReturnType<typeof createClientLimit>
}

/**
 * Verifies the signatures of links before anything else is read for them. The nonces of keys with valid links are cached, so that
 * other links are refused without a read; what is cached only admits a link, which `confirm` then verifies by what was read for it.
 * All reasons for which a link is not valid have one response.
 */
export class LinkVerifier {
  readonly #deps: Dependencies
  readonly #known = new Map<string, LinkNonces>()
  readonly #lookups = new Shares(lookupsMax)

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Throws `INVALID_SIGNATURE`, or `RATE_LIMIT_EXCEEDED` for a client that sent too many wrong signatures. */
  async admit(link: RenderLink, client: Client): Promise<void> {
    const known = this.#known.get(link.keyId)
    if (known && this.#isSigned(link, known)) return
    this.#takeToken(client)
    let found: LinkNonces | undefined
    try {
      found = await this.#find(link.keyId, client)
    } catch (error) {
      this.#deps.limit.giveBack(client)
      throw error
    }
    if (!found || !this.#isSigned(link, found)) throw forged()
    this.#deps.limit.giveBack(client)
    setWithEviction(this.#known, link.keyId, found, keysMax)
  }

  /** Verifies an admitted link by the current state of its key. Throws as `admit`. */
  confirm<State extends LinkNonces>(link: RenderLink, state: State | undefined, client: Client): State {
    if (state && this.#isSigned(link, state)) return state
    this.#known.delete(link.keyId)
    this.#takeToken(client)
    throw forged()
  }

  #isSigned(link: RenderLink, { nonce, previousNonce }: LinkNonces): boolean {
    const nonces = previousNonce ? [nonce, previousNonce] : [nonce]
    return isSignedBy(
      nonces.map((each) => this.#deps.derive(link.keyId, each)),
      link,
    )
  }

  #takeToken(client: Client): void {
    const retryAfterSeconds = this.#deps.limit.take(client)
    if (retryAfterSeconds === 0) return
    const publicMessage = `Too many links with wrong signatures from this address; try again in ${retryAfterSeconds} seconds.`
    throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage, retryAfterSeconds })
  }

  async #find(keyId: string, client: Client): Promise<LinkNonces | undefined> {
    const place = this.#lookups.take(1, clientHolders(client))
    if (typeof place === 'string') throw new AppError('SERVICE_UNAVAILABLE', { retryAfterSeconds: retrySeconds })
    using _held = place
    return await this.#deps.findKey(keyId)
  }
}

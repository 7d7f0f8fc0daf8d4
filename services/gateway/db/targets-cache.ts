import type { StoredTargets } from '#shared/db/check-request.ts'
import { noLists, readTargetLists, type TargetLists, type TargetTexts } from '#shared/policy/target-lists.ts'
import { setWithEviction } from '#gateway/limits/set-with-eviction.ts'
import type { NewCapture } from './accept-capture.ts'

/** The lists of targets of an account: parsed, as they are sealed, and as the database knows them; both undefined if empty. */
export type AccountTargets = {
  readonly lists: TargetLists
  readonly texts: TargetTexts | undefined
  readonly sha256: Buffer | undefined
}

/** Those of an account that has none. */
export const noTargets: AccountTargets = { lists: noLists, texts: undefined, sha256: undefined }

/** Who sends a capture: an account that a session or an operator acts for, else that of the key. */
export type Issuer = Pick<NewCapture, 'keyHash' | 'accountId'>

/** Most accounts whose lists are cached, each with at most 400 entries. */
const cachedMax = 500

/** Caches the lists of targets of accounts that have any, by key or account. The accept statement finds out if they are stale. */
export class TargetsCache {
  readonly #entries = new Map<string, AccountTargets>()

  find(issuer: Issuer): AccountTargets {
    return this.#entries.get(TargetsCache.#nameOf(issuer)) ?? noTargets
  }

  store(issuer: Issuer, stored: StoredTargets | undefined): void {
    const name = TargetsCache.#nameOf(issuer)
    if (!stored) this.#entries.delete(name)
    else setWithEviction(this.#entries, name, { ...stored, lists: readTargetLists(stored.texts) }, cachedMax)
  }

  static #nameOf({ keyHash, accountId }: Issuer): string {
    return accountId ?? keyHash?.toString('latin1') ?? ''
  }
}

import { createHmac, createSecretKey, hkdfSync, randomBytes } from 'node:crypto'
import { LockMode, type SqlEntityManager } from '@mikro-orm/postgresql'
import { AppError } from '#shared/errors/app-error.ts'
import { type Actor, recordChange } from './audit.ts'
import type { Database } from './connection.ts'
import { ApiKey } from './entities/api-key.ts'
import { LinkSecret } from './entities/link-secret.ts'

const nonceBytes = 32

/** Derives the secret of a key from the nonce that is stored. */
export type DeriveLinkSecret = (keyId: string, nonce: Buffer) => string

/** Returns the derivation under the pepper: neither it nor the database alone gives a secret. Another HKDF label would change all of them. */
export const createLinkSecretDerivation = (pepper: string): DeriveLinkSecret => {
  const root = createSecretKey(Buffer.from(hkdfSync('sha256', pepper, '', 'shutterfleet link secrets', 32)))
  return (keyId, nonce) => `lsk_${createHmac('sha256', root).update(keyId).update(nonce).digest('base64url')}`
}

/**
 * The key of an account, locked; its account is locked after it, by the trigger of a change, as everywhere (`sql/check-request.sql`). Throws
 * `NOT_FOUND` for one of another account, and one that is revoked or has expired.
 */
const lockKey = async (entities: SqlEntityManager, keyId: string, accountId: string) => {
  const usable = { revokedAt: null, $or: [{ expiresAt: null }, { expiresAt: { $gt: new Date() } }] }
  const where = { id: keyId, account: accountId, ...usable }
  const key = await entities.findOne(ApiKey, where, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (key) return key
  throw new AppError('NOT_FOUND', { publicMessage: 'The account has no such key.' })
}

type KeyRef = { readonly keyId: string; readonly accountId: string; readonly actor: Actor }

const action = 'key.rotate_link_secret'

/** The nonce of a key's link secret, which is created if the key has none. Throws `NOT_FOUND` if the account has no such key. */
export const ensureLinkSecret = (database: Database, { keyId, accountId, actor }: KeyRef): Promise<Buffer> =>
  database.entities(async (entities) => {
    const key = await lockKey(entities, keyId, accountId)
    const found = await entities.findOne(LinkSecret, { key: keyId })
    if (found) return found.nonce
    const nonce = randomBytes(nonceBytes)
    entities.create(LinkSecret, { key, nonce, createdAt: new Date() })
    recordChange(entities, { actor, action, target: keyId, detail: { previous_expires_at: null } })
    return nonce
  })

/** A new link secret, by its nonce. `previousExpiresAt`: until when links of the previous one are served; null: no longer. */
type RotatedLinkSecret = { readonly nonce: Buffer; readonly createdAt: Date; readonly previousExpiresAt: Date | null }

/**
 * Creates or replaces the link secret of a key; the previous one stays valid for `previousSeconds`, one before it does not. Throws
 * `NOT_FOUND` if the account has no such key.
 */
export const rotateLinkSecret = (
  database: Database,
  { keyId, accountId, previousSeconds, actor }: KeyRef & { readonly previousSeconds: number },
): Promise<RotatedLinkSecret> =>
  database.entities(async (entities) => {
    const key = await lockKey(entities, keyId, accountId)
    const found = await entities.findOne(LinkSecret, { key: keyId })
    const nonce = randomBytes(nonceBytes)
    const createdAt = new Date()
    const keepsPrevious = found !== null && previousSeconds > 0
    const previousExpiresAt = keepsPrevious ? new Date(createdAt.getTime() + previousSeconds * 1000) : null
    const fields = { nonce, createdAt, previousNonce: keepsPrevious ? found.nonce : null, previousExpiresAt }
    if (found) entities.assign(found, fields)
    else entities.create(LinkSecret, { key, ...fields })
    recordChange(entities, { actor, action, target: keyId, detail: { previous_expires_at: previousExpiresAt } })
    return { nonce, createdAt, previousExpiresAt }
  })

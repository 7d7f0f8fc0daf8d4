import type { Actor } from '#shared/db/audit.ts'
import { type Database, onlyRow } from '#shared/db/connection.ts'
import { createKey, revokeKey } from '#shared/db/keys.ts'
import type { Scope } from '#shared/policy/scopes.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { type ApiKeyRecord, keysMax } from '#gateway/records/key.ts'

/** The keys of accounts, for their own requests. */
export type AccountKeys = ReturnType<typeof accountKeysIn>

/** The fields of a key that its account sets. */
type NewKey = Pick<ApiKeyRecord, 'name' | 'domains' | 'scopes'> & { readonly expiresAt: Date | undefined }

const columns = `id, name, prefix, domains, scopes, iso_time(expires_at) as expires_at, iso_time(created_at) as created_at,
  iso_time(last_used_at) as last_used_at`

/** Who creates or revokes a key, and which scopes it may give to a new one. */
export type KeyIssuer = { readonly actor: Actor; readonly scopes: readonly Scope[] }

/** `pepper`: keys are hashed with it. */
export const accountKeysIn = (database: Database, pepper: string) => ({
  /** The keys of an account that are not revoked, newest first; at most 1,000. */
  list: (accountId: string): Promise<ApiKeyRecord[]> =>
    database.query<ApiKeyRecord>(
      `select ${columns} from api_key k where account_id = $1 and revoked_at is null
        order by k.created_at desc, id limit ${keysMax}`,
      [accountId],
    ),
  /**
   * The key with this hash, as an actor, and its scopes. Throws `FORBIDDEN` if it expires or is restricted to domains: it could
   * create one that is not.
   */
  issuerOf: async (keyHash: Buffer, deed = 'create or revoke keys'): Promise<KeyIssuer> => {
    const statement = `select id, scopes, cardinality(domains) > 0 or expires_at is not null as "isRestricted"
      from api_key where key_hash = $1`
    const { id, scopes, isRestricted } = onlyRow(
      await database.query<{ id: string; scopes: readonly Scope[]; isRestricted: boolean }>(statement, [keyHash]),
    )
    if (!isRestricted) return { actor: `key:${id}`, scopes }
    const publicMessage = `A key that expires or is restricted to domains may not ${deed}.`
    throw new AppError('FORBIDDEN', { publicMessage })
  },
  /** Creates a key and returns it, the only time that it is shown. Throws as `createKey`. */
  create: async (accountId: string, fields: NewKey, actor: Actor): Promise<ApiKeyRecord & { readonly key: string }> => {
    const { id, key } = await createKey(database, { ...fields, accountId, pepper, actor })
    const rows = await database.query<ApiKeyRecord>(`select ${columns} from api_key k where id = $1`, [id])
    return { ...onlyRow(rows), key }
  },
  /** Revokes a key of an account. Throws `NOT_FOUND` if the account has no such key. */
  revoke: async (accountId: string, id: string, actor: Actor): Promise<void> => {
    const found = await database.query('select from api_key where id = $1 and account_id = $2', [id, accountId])
    if (found.length === 0) throw new AppError('NOT_FOUND')
    await revokeKey(database, id, actor)
  },
})

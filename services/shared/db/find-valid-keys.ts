import type { Sql } from './connection.ts'

/** As `check_request` judges a key, but for the domains, which are the request's. */
const statement = `select k.key_hash as "keyHash" from api_key k join account a on a.id = k.account_id
  where k.key_hash = any ($1::bytea[]) and k.revoked_at is null and a.disabled_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp())`

/** Hashes of those keys that are valid now. Counts against no minute. */
export const findValidKeys = async (database: Sql, keyHashes: readonly Buffer[]): Promise<Buffer[]> => {
  const found = await database.query<{ keyHash: Buffer }>(statement, [keyHashes])
  return found.map(({ keyHash }) => keyHash)
}

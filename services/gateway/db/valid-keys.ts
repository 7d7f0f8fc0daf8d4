import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import { createBatchedLoader } from './batched-loader.ts'

/** Minimum between two batched reads of keys. */
const keyGapMs = 100

const statement = readStatement(import.meta.dirname, 'sql/valid-keys.sql')

/** Creates a check of whether a key is valid now. It counts no request; concurrent lookups are batched into one read. */
export const createKeyLookup = (database: Sql): ((keyHash: Buffer) => Promise<boolean>) => {
  const load = createBatchedLoader(async (ids: readonly string[]) => {
    const keyHashes = ids.map((id) => Buffer.from(id, 'base64'))
    const found = await database.query<{ keyHash: Buffer }>(statement, [keyHashes])
    return found.map(({ keyHash }) => ({ id: keyHash.toString('base64') }))
  }, keyGapMs)
  return async (keyHash) => (await load(keyHash.toString('base64'))) !== undefined
}

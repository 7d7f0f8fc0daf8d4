import type { Sql } from '#shared/db/connection.ts'
import { isId } from '#shared/db/is-id.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import { createBatchedLoader } from './batched-loader.ts'

/** Minimum between two reads, so that guesses cost the database little. */
const gapMs = 50

const statement = readStatement(import.meta.dirname, 'sql/known-credentials.sql')

/** Whether a hash of a key or token, or the id of a key or capture, is of an account here. */
export type KnowsCredential = (hashOrId: Buffer | string) => Promise<boolean>

/** Creates the check; concurrent ones are batched into one read. What is no longer valid is known too: it is refused here, and says why. */
export const createCredentialLookup = (database: Sql): KnowsCredential => {
  const load = createBatchedLoader((names: readonly string[]) => {
    const hashes = names.filter((name) => !isId(name)).map((name) => Buffer.from(name, 'base64'))
    return database.query<{ id: string }>(statement, [hashes, names.filter(isId)])
  }, gapMs)
  return async (hashOrId) =>
    (await load(typeof hashOrId === 'string' ? hashOrId : hashOrId.toString('base64'))) !== undefined
}

import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import type { Scope } from '#shared/policy/scopes.ts'
import { createBatchedLoader } from './batched-loader.ts'

/** Minimum between two batched reads. */
const keyGapMs = 100

const statement = readStatement(import.meta.dirname, 'sql/valid-keys.sql')

/** By what a request was authorized: the hash of its key or session, and what that had to be good for. */
type Authorization = {
  readonly keyHash: Buffer
  readonly accountId: string
  /** Of which a key needs one. */
  readonly scopes: readonly Scope[]
  /** Host of the page that sent the request. */
  readonly originHost: string | null
}

/** Checks of what an earlier request was authorized by; they count no request, and concurrent ones are batched into one read. */
export type AuthorizationLookup = {
  /** Whether a key or session is valid now, wherever it leads. */
  readonly isValidKey: (keyHash: Buffer) => Promise<boolean>
  /** Whether it still identifies the account, and a key still has a scope and allows the page. */
  readonly isAuthorized: (authorization: Authorization) => Promise<boolean>
}

type Row = readonly [keyHash: string, accountId: string | null, scopes: string | null, originHost: string | null]

/** Creates the checks. */
export const createAuthorizationLookup = (database: Sql): AuthorizationLookup => {
  const load = createBatchedLoader(async (ids: readonly string[]) => {
    const rows = ids.map((id) => JSON.parse(id) as Row)
    const hashes = rows.map(([keyHash]) => Buffer.from(keyHash, 'base64'))
    const values = [hashes, rows.map((row) => row[1]), rows.map((row) => row[2]), rows.map((row) => row[3])]
    const found = await database.query<{ place: number }>(statement, values)
    return found.map(({ place }) => ({ id: ids[place - 1] ?? '' }))
  }, keyGapMs)
  const holds = async (...row: Row) => (await load(JSON.stringify(row))) !== undefined
  return {
    isValidKey: (keyHash) => holds(keyHash.toString('base64'), null, null, null),
    isAuthorized: ({ keyHash, accountId, scopes, originHost }) =>
      holds(keyHash.toString('base64'), accountId, `{${scopes.join(',')}}`, originHost),
  }
}

import type { Captures } from '#gateway/capture/captures.ts'
import { createRefusalMemory } from '#gateway/capture/refusal-memory.ts'
import { createBatchedLoader } from '#gateway/live/batched-loader.ts'
import { checkRequest } from '#shared/db/check-request.ts'
import { type Database, onlyRow, type Sql } from '#shared/db/connection.ts'
import { findCapture, findLinkedCapture } from '#shared/db/find-capture.ts'
import { hashKey } from '#shared/db/keys.ts'
import { acceptBatch } from './accept-batch.ts'
import { acceptCapture } from './accept-capture.ts'
import { describeAccount } from './describe-account.ts'
import { findBatch } from './find-batch.ts'
import { findProgress } from './find-progress.ts'
import { listCaptures } from './list-captures.ts'

/** Least between two reads of keys that are looked up together. */
const keyGapMs = 100

/** As `check_request` judges a key, but for the domains, which are the request's. */
const validKeys = `select k.key_hash as "keyHash" from api_key k join account a on a.id = k.account_id
  where k.key_hash = any ($1::bytea[]) and k.revoked_at is null and a.disabled_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp())`

/** Hashes of those keys that are valid now. Counts against no minute. */
const findValidKeys = async (database: Sql, keyHashes: readonly Buffer[]): Promise<Buffer[]> => {
  const found = await database.query<{ keyHash: Buffer }>(validKeys, [keyHashes])
  return found.map(({ keyHash }) => keyHash)
}

/** Deletes a capture of an account, in whatever state; see `sql/delete-capture.sql`. Answers whether there was one. */
export const deleteCapture = async (
  database: Sql,
  of: { readonly id: string; readonly accountId: string },
): Promise<boolean> => {
  const statement = 'select delete_capture($1, $2) as deleted'
  return onlyRow(await database.query<{ deleted: boolean }>(statement, [of.id, of.accountId])).deleted
}

/** Whether an account's plan has links that need no API key, and whether a capture is the account's. */
const maySign = async (
  database: Sql,
  of: { readonly id: string; readonly accountId: string },
): Promise<{ readonly allowed: boolean; readonly found: boolean }> => {
  const [row] = await database.query<{ allowed: boolean; found: boolean }>(
    `select 'signed_urls' = any (p.features) as allowed,
            exists (select from capture c where c.id = $1 and c.account_id = a.id) as found
       from account a join plan p on p.slug = a.plan where a.id = $2`,
    [of.id, of.accountId],
  )
  return row ?? { allowed: false, found: false }
}

/** Many keys are one read. */
const validKeysIn = (database: Database): Captures['isValidKey'] => {
  const read = async (ids: readonly string[]) => {
    const found = await findValidKeys(
      database,
      ids.map((id) => Buffer.from(id, 'base64')),
    )
    return found.map((keyHash) => ({ id: keyHash.toString('base64') }))
  }
  const look = createBatchedLoader(read, keyGapMs)
  return async (keyHash) => (await look(keyHash.toString('base64'))) !== undefined
}

type Settings = { readonly windowCaptures: number; readonly keyPepper: string }

/** The captures in a database. */
export const capturesIn = (
  database: Database,
  { windowCaptures: windowSize, keyPepper }: Settings,
  nowMs: () => number,
): Captures => {
  const options = { windowSize }
  const memory = createRefusalMemory(nowMs)
  return {
    hashKey: (key) => hashKey(keyPepper, key),
    refused: memory.find,
    isValidKey: validKeysIn(database),
    accept: (capture, counted) =>
      memory.watch(capture, () => acceptCapture(database, capture, { ...options, counted })),
    tryAccept: (capture, counted) => acceptCapture(database, capture, { ...options, counted, checkOnly: true }),
    acceptBatch: (batch, counted) => acceptBatch(database, batch, { ...options, counted }),
    check: async (request) => memory.find(request) ?? memory.watch(request, () => checkRequest(database, request)),
    find: (of) => findCapture(database, of),
    list: (filter, page) => listCaptures(database, filter, page),
    describeAccount: (accountId) => describeAccount(database, accountId),
    findBatch: (of) => findBatch(database, of),
    remove: (of) => deleteCapture(database, of),
    maySign: (of) => maySign(database, of),
    findLinked: (id) => findLinkedCapture(database, id),
    findProgress: (ids) => findProgress(database, ids),
  }
}

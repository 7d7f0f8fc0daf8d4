import { type Asker, createRefusalMemory } from '#gateway/capture/refusal-memory.ts'
import { createBatchedLoader } from '#gateway/live/batched-loader.ts'
import { checkRequest } from '#shared/db/check-request.ts'
import { type Database, onlyRow, type Sql } from '#shared/db/connection.ts'
import { findCapture, findLinkedCapture } from '#shared/db/find-capture.ts'
import { hashKey } from '#shared/db/keys.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import { acceptBatch, type NewBatch } from './accept-batch.ts'
import { acceptCapture, type AcceptOutcome, type NewCapture } from './accept-capture.ts'
import { describeAccount } from './describe-account.ts'
import { findBatch } from './find-batch.ts'
import { findProgress } from './find-progress.ts'
import { type CaptureFilter, listCaptures, type PageStart } from './list-captures.ts'

/** A capture or batch of an account. Both are UUIDs. */
type CaptureOf = { readonly id: string; readonly accountId: string }

/** Least between two reads of keys that are looked up together. */
const keyGapMs = 100

const validKeys = readStatement(import.meta.dirname, 'sql/valid-keys.sql')
const judgeSigning = readStatement(import.meta.dirname, 'sql/judge-signing.sql')

/** Deletes a capture of an account, in whatever state; see `sql/delete-capture.sql`. Answers whether there was one. */
export const deleteCapture = async (database: Sql, of: CaptureOf): Promise<boolean> => {
  const statement = 'select delete_capture($1, $2) as deleted'
  return onlyRow(await database.query<{ deleted: boolean }>(statement, [of.id, of.accountId])).deleted
}

/** Whether an account's plan has links that need no API key, and whether a capture is the account's. */
const maySign = async (database: Sql, of: CaptureOf) => {
  const [row] = await database.query<{ allowed: boolean; found: boolean }>(judgeSigning, [of.id, of.accountId])
  return row ?? { allowed: false, found: false }
}

/** Whether a key is valid now. Counts against no minute; many keys are one read. */
const validKeysIn = (database: Database): ((keyHash: Buffer) => Promise<boolean>) => {
  const look = createBatchedLoader(async (ids: readonly string[]) => {
    const keyHashes = ids.map((id) => Buffer.from(id, 'base64'))
    const found = await database.query<{ keyHash: Buffer }>(validKeys, [keyHashes])
    return found.map(({ keyHash }) => ({ id: keyHash.toString('base64') }))
  }, keyGapMs)
  return async (keyHash) => (await look(keyHash.toString('base64'))) !== undefined
}

type Settings = { readonly windowCaptures: number; readonly keyPepper: string }

/** What the gateway asks the database. Each promise is one round trip; all throw `SERVICE_UNAVAILABLE` where it does not answer. */
export type Captures = ReturnType<typeof capturesIn>

/** The captures in a database. */
export const capturesIn = (
  database: Database,
  { windowCaptures: windowSize, keyPepper }: Settings,
  nowMs: () => number,
) => {
  const memory = createRefusalMemory(nowMs)
  return {
    hashKey: (key: string) => hashKey(keyPepper, key),
    /** The refusal that a request meets for its key or its minute, where it is known without asking. */
    refused: memory.find,
    /** Whether a key is valid now, counted against no minute. Many that are asked for at a time are one round trip. */
    isValidKey: validKeysIn(database),
    /** `counted`: `check` has let this request through already. */
    accept: (capture: NewCapture, counted: boolean): Promise<AcceptOutcome> =>
      memory.watch(capture, () => acceptCapture(database, capture, { windowSize, counted })),
    /** The verdict that `accept` would give, with nothing stored but the minute count. */
    tryAccept: (capture: NewCapture, counted: boolean) =>
      acceptCapture(database, capture, { windowSize, counted, checkOnly: true }),
    acceptBatch: (batch: NewBatch, counted: boolean) => acceptBatch(database, batch, { windowSize, counted }),
    /** Whether a request may be served as far as key, domain and minute limit tell. */
    check: async (request: Asker) =>
      memory.find(request) ?? memory.watch(request, () => checkRequest(database, request)),
    find: (of: CaptureOf) => findCapture(database, of),
    list: (filter: CaptureFilter, page: { start: PageStart; limit: number }) => listCaptures(database, filter, page),
    describeAccount: (accountId: string) => describeAccount(database, accountId),
    findBatch: (of: CaptureOf) => findBatch(database, of),
    remove: (of: CaptureOf) => deleteCapture(database, of),
    maySign: (of: CaptureOf) => maySign(database, of),
    /** A capture of any account: only for whoever has a link that was signed for it. */
    findLinked: (id: string) => findLinkedCapture(database, id),
    findProgress: (ids: readonly string[]) => findProgress(database, ids),
  }
}

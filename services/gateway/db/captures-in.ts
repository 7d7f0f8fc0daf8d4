import type { Account } from '#gateway/records/account.ts'
import { type RequestIdentity, createRefusalCache } from './refusal-cache.ts'
import { createBatchedLoader } from './batched-loader.ts'
import { checkRequest } from '#shared/db/check-request.ts'
import { type Database, onlyRow, type Sql } from '#shared/db/connection.ts'
import { findCapture, findLinkedCapture, type FoundCapture } from '#shared/db/find-capture.ts'
import type { RecordSeal } from '#shared/db/record-seal.ts'
import { createKeyHash } from '#shared/db/keys.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import { acceptBatch, type NewBatch } from './accept-batch.ts'
import { acceptCapture, type AcceptOutcome, type NewCapture } from './accept-capture.ts'
import { findBatch } from './find-batch.ts'
import { findProgress } from './find-progress.ts'
import { type CaptureFilter, type CapturePage, listCaptures, type PageStart } from './list-captures.ts'

/** A capture or batch of an account. Both are UUIDs. */
type CaptureOf = { readonly id: string; readonly accountId: string }

/** Minimum between two batched reads of keys. */
const keyGapMs = 100

const validKeys = readStatement(import.meta.dirname, 'sql/valid-keys.sql')
const checkSignedLinks = readStatement(import.meta.dirname, 'sql/check-signed-links.sql')
const readAccount = readStatement(import.meta.dirname, 'sql/describe-account.sql')

/** Deletes a capture of an account, in any state; see `delete-capture.sql` of `#shared/db/sql`. Returns false if it does not exist. */
export const deleteCapture = async (database: Sql, of: CaptureOf): Promise<boolean> => {
  const statement = 'select delete_capture($1, $2) as deleted'
  return onlyRow(await database.query<{ deleted: boolean }>(statement, [of.id, of.accountId])).deleted
}

/** An account with its current plan; undefined if it does not exist. */
export const describeAccount = async (database: Sql, accountId: string): Promise<Account | undefined> => {
  const [row] = await database.query<Account>(readAccount, [accountId])
  return row
}

/** `allowed`: the account's plan includes signed links; `found`: the capture belongs to the account. */
const maySign = async (database: Sql, of: CaptureOf) => {
  const [row] = await database.query<{ allowed: boolean; found: boolean }>(checkSignedLinks, [of.id, of.accountId])
  return row ?? { allowed: false, found: false }
}

/** Checks whether a key is valid now, without counting a request; concurrent lookups are batched into one read. */
const validKeysIn = (database: Database): ((keyHash: Buffer) => Promise<boolean>) => {
  const load = createBatchedLoader(async (ids: readonly string[]) => {
    const keyHashes = ids.map((id) => Buffer.from(id, 'base64'))
    const found = await database.query<{ keyHash: Buffer }>(validKeys, [keyHashes])
    return found.map(({ keyHash }) => ({ id: keyHash.toString('base64') }))
  }, keyGapMs)
  return async (keyHash) => (await load(keyHash.toString('base64'))) !== undefined
}

type Settings = {
  readonly windowCaptures: number
  readonly keyPepper: string
  readonly records: Pick<RecordSeal, 'seal' | 'open'>
}

/** The gateway's queries on captures, whose requests are stored sealed. Each is one round trip and throws `SERVICE_UNAVAILABLE` if the database is unavailable. */
export type Captures = ReturnType<typeof capturesIn>

/** The captures in a database. */
export const capturesIn = (
  database: Database,
  { windowCaptures: windowSize, keyPepper, records }: Settings,
  nowMs: () => number,
) => {
  const refusals = createRefusalCache(nowMs)
  const opened = (row: FoundCapture | undefined) => row && records.open(row)
  return {
    hashKey: createKeyHash(keyPepper),
    /** The cached refusal of a request for its key or minute limit; undefined if the database must be queried. */
    refused: refusals.find,
    /** Whether a key is valid now. Not counted; concurrent lookups are batched into one round trip. */
    isValidKey: validKeysIn(database),
    /** `counted`: `check` has already counted this request. */
    accept: (capture: NewCapture, counted: boolean): Promise<AcceptOutcome> =>
      refusals.queryAndCache(capture, () => acceptCapture(database, records.seal(capture), { windowSize, counted })),
    /** Checks as `accept` up to the plan's features; stores only the minute count. */
    tryAccept: (capture: NewCapture, counted: boolean) =>
      acceptCapture(database, records.seal(capture), { windowSize, counted, checkOnly: true }),
    acceptBatch: (batch: NewBatch, counted: boolean) => {
      const members = batch.members.map((each) => records.seal(each))
      return acceptBatch(database, { ...batch, members }, { windowSize, counted })
    },
    /** Checks key, domain and minute limit, and counts the request. */
    check: async (request: RequestIdentity) =>
      refusals.find(request) ?? refusals.queryAndCache(request, () => checkRequest(database, request)),
    find: async (of: CaptureOf) => opened(await findCapture(database, of)),
    /** As `find`, with url and options as stored: what images need is readable without the key of a record. */
    findUnopened: (of: CaptureOf) => findCapture(database, of),
    list: async (filter: CaptureFilter, page: { start: PageStart; limit: number }): Promise<CapturePage> => {
      const found = await listCaptures(database, filter, page)
      return { ...found, captures: found.captures.map((each) => records.open(each)) }
    },
    describeAccount: (accountId: string) => describeAccount(database, accountId),
    findBatch: (of: CaptureOf) => findBatch(database, records, of),
    remove: (of: CaptureOf) => deleteCapture(database, of),
    maySign: (of: CaptureOf) => maySign(database, of),
    /** A capture of any account, with url and options as stored: only for requests with a signed link to it. */
    findLinked: (id: string) => findLinkedCapture(database, id),
    findProgress: (ids: readonly string[]) => findProgress(database, ids),
  }
}

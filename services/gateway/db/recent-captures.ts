import type { Status } from '#shared/capture/status.ts'
import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import { type BatchedLoader, createBatchedLoader } from './batched-loader.ts'

/** Newest captures that streams of an account compare. */
const newestMax = 100
/** Captures that have not ended, of each of the two statuses. */
const openMax = 50
/** Accounts of one statement: some 200 rows each. */
const accountsMax = 50
/** Minimum between two reads, and with it between two reports of a stream. */
const readGapMs = 1000

const marksStatement = readStatement(import.meta.dirname, 'sql/change-marks.sql')
const recentStatement = readStatement(import.meta.dirname, 'sql/recent-captures.sql')

/** A capture's state; `createdAt` is ISO 8601 UTC with microseconds. */
export type CaptureState = { readonly id: string; readonly status: Status; readonly createdAt: string }

/** The captures of an account that its streams compare; `id` is the account's. */
export type RecentCaptures = {
  readonly id: string
  /** Newest first. */
  readonly newest: readonly CaptureState[]
  /** Those that have not ended, some of which may be among the newest too. */
  readonly open: readonly CaptureState[]
  /** Whether the newest are all captures of the account. */
  readonly isAll: boolean
  /** Whether every capture that has not ended is listed. */
  readonly hasAllOpen: boolean
}

/** What streams of accounts read, once for all streams of this gateway. */
export type AccountChanges = {
  /** Differs from an earlier mark if a capture of the account has changed since. */
  readonly loadMark: BatchedLoader<{ readonly id: string; readonly mark: string }>
  readonly loadRecent: BatchedLoader<RecentCaptures>
}

type Row = Record<'newest' | 'processing' | 'pending', readonly CaptureState[]> & { readonly id: string }

const toRecent = ({ id, newest: found, processing, pending }: Row): RecentCaptures => {
  const newest = found.slice(0, newestMax)
  const newestIds = new Set(newest.map((capture) => capture.id))
  // Those after the oldest ones are newer than the last of them.
  const isCovered = (oldest: readonly CaptureState[]) =>
    oldest.length <= openMax || newestIds.has(oldest[openMax]?.id ?? '')
  return {
    id,
    newest,
    open: [...processing.slice(0, openMax), ...pending.slice(0, openMax)],
    isAll: found.length <= newestMax,
    hasAllOpen: isCovered(processing) && isCovered(pending),
  }
}

/** Reads the captures that streams of these accounts compare. */
const findRecent = async (database: Sql, accountIds: readonly string[]): Promise<RecentCaptures[]> => {
  const found: RecentCaptures[] = []
  for (let at = 0; at < accountIds.length; at += accountsMax) {
    const ids = accountIds.slice(at, at + accountsMax)
    found.push(...(await database.query<Row>(recentStatement, [ids, newestMax, openMax])).map(toRecent))
  }
  return found
}

/** Creates the reads of streams of accounts. Nothing is read unless a stream requests it. */
export const accountChangesIn = (database: Sql): AccountChanges => ({
  loadMark: createBatchedLoader(
    (ids) => database.query<{ readonly id: string; readonly mark: string }>(marksStatement, [ids]),
    readGapMs,
  ),
  loadRecent: createBatchedLoader((ids) => findRecent(database, ids), readGapMs),
})

import type { CapturedFile } from '#shared/capture/files.ts'
import type { Format } from '#shared/capture/options.ts'
import type { Lane, Pool } from '#shared/capture/lane.ts'
import type { Status } from '#shared/capture/status.ts'
import type { Blame, CaptureErrorCode } from '#shared/errors/catalog.ts'
import { type Database, onlyRow, type Sql } from './connection.ts'
import { readStatement } from './read-statement.ts'

/** The locked row that a judgement is based on; never that of a follower. */
export type JudgedCapture = {
  readonly id: string
  readonly accountId: string
  readonly pool: Pool
  readonly lane: Lane
  readonly status: Status
  /** The requested format. */
  readonly format: Format
  /** SHA-256 of the token that a result must carry. */
  readonly tokenHash: Buffer
  /** Number of the latest attempt that began. */
  readonly attempts: number
  /** Milliseconds since acceptance. */
  readonly ageMs: number
  /** Attempts that began and whose end was not reported, including the running one. */
  readonly unendedStarts: number
  /** Key of the winning attempt's object, once completed. */
  readonly objectKey: string | null
  /** W3C trace context of its request; null if it is not traced. */
  readonly traceparent: string | null
}

/** How a capture ends: with an object, or with an error. */
export type CaptureEnd =
  | {
      readonly status: 'completed'
      readonly objectKey: string
      readonly fileSize: number
      readonly sha256: string
      readonly mimeType: string
      readonly width: number
      readonly height: number
      readonly processingTimeMs?: number | undefined
      readonly targetStatus?: number | undefined
      /** See `sealDetails`; absent: there are none. */
      readonly sealedResult?: string | undefined
      readonly timings: Readonly<Record<string, number>>
      readonly files?: readonly CapturedFile[] | undefined
    }
  | {
      readonly status: 'failed'
      readonly code: CaptureErrorCode
      /** Of the ledger, instead of `sealedResult`. */
      readonly message?: string | undefined
      readonly sealedResult?: string | undefined
      /** Not stored. Absent: that of the code. */
      readonly blame?: Blame | undefined
      readonly timings?: Readonly<Record<string, number>> | undefined
    }

/** A change to a capture that has not ended. With neither `begins` nor `end` only the counts are written. */
export type CaptureChange = {
  readonly attempts: number
  readonly unendedStarts: number
  /** Whether a new attempt has begun, which starts its time budget. */
  readonly begins: boolean
  /** Milliseconds since that attempt began; absent: 0. */
  readonly begunMsAgo?: number
  readonly end?: CaptureEnd | undefined
}

/** The change to make, if any, and the keys of objects that no record will refer to. */
type Judgement = {
  readonly change?: CaptureChange | undefined
  readonly losers?: readonly string[]
  /** No worker has reported the end: what the queue and the store have of the capture is to be removed. */
  readonly withdraws?: boolean
}

/** A capture after its judgement, or a follower that ended with its leader. */
export type ChangedCapture = Pick<JudgedCapture, 'id' | 'accountId' | 'pool' | 'lane' | 'status' | 'objectKey'> & {
  /** Whether this call ended it. */
  readonly ended: boolean
}

/** The whole locked row, including columns that no judgement depends on. */
type Locked = JudgedCapture & { readonly period: string; readonly batchId: string | null; readonly mayLead: boolean }

const lock = readStatement(import.meta.dirname, 'sql/lock-captures.sql')
/** Nearly all are among those that have not ended: to look there first spares a plan for the partitions of the others. */
const lockOpen = lock.replace(' where ', ` where part = 'open' and `)

/**
 * A follower ends only with its leader and is locked after it, so that no transaction holds a follower's row while it waits
 * for a leader's. A separate statement, which reads the current followers: one that became a leader while this
 * transaction waited for the leaders' locks would be locked out of order here.
 */
const lockFollowers = 'select from capture where follows = any ($1::uuid[]) order by id for update'

/** As after a deletion: at once, and when a publish that had begun must have ended. */
const withdraw = `
  insert into deletion (capture_id, step, account_id, pool, lane, accepted_at, due_at)
  select c.id, s.step, c.account_id, c.pool, c.lane, c.created_at, now() + s.after
    from capture c cross join (values (0, interval '0'), (1, interval '15 seconds')) as s (step, after)
   where c.id = any ($1::uuid[])`

const endColumns = (end: CaptureEnd | undefined) => {
  if (end === undefined) return {}
  const { sealedResult: sealed_result, timings } = end
  if (end.status === 'failed') return { error_code: end.code, error_message: end.message, sealed_result, timings }
  return {
    object_key: end.objectKey,
    file_size: end.fileSize,
    sha256: end.sha256,
    mime_type: end.mimeType,
    width: end.width,
    height: end.height,
    processing_time_ms: end.processingTimeMs,
    target_status: end.targetStatus,
    sealed_result,
    timings,
    files: end.files,
  }
}

const statusAfter = (capture: JudgedCapture, change: CaptureChange | undefined): Status => {
  if (!change) return capture.status
  return change.end?.status ?? (change.attempts > 0 ? 'processing' : capture.status)
}

const toRow = (capture: Locked, change: CaptureChange) => ({
  id: capture.id,
  account_id: capture.accountId,
  pool: capture.pool,
  lane: capture.lane,
  period: capture.period,
  batch_id: capture.batchId,
  may_lead: capture.mayLead,
  was: capture.status,
  status: statusAfter(capture, change),
  attempts: change.attempts,
  unended_starts: change.unendedStarts,
  attempt_begins: change.begins,
  begun_ms_ago: change.begunMsAgo ?? 0,
  ends: change.end !== undefined,
  ...endColumns(change.end),
})

type Changed = { readonly roomMade: boolean; readonly followers: readonly Omit<ChangedCapture, 'ended'>[] }

const lockAll = async (sql: Sql, ids: readonly string[]): Promise<readonly Locked[]> => {
  const open = await sql.query<Locked>(lockOpen, [ids])
  const others = ids.filter((id) => !open.some((capture) => capture.id === id))
  return others.length === 0 ? open : [...open, ...(await sql.query<Locked>(lock, [others]))]
}

const judgeAll = async (sql: Sql, ids: readonly string[], judge: (capture: JudgedCapture) => Judgement) => {
  const captures = await lockAll(sql, ids)
  const leaders = captures.filter(({ mayLead }) => mayLead).map(({ id }) => id)
  if (leaders.length > 0) await sql.query(lockFollowers, [leaders])
  const judged = captures.map((capture) => ({ capture, ...judge(capture) }))
  const rows = judged.flatMap(({ capture, change }) => (change ? [toRow(capture, change)] : []))
  const losers = judged.flatMap((each) => each.losers ?? [])
  const changed: ChangedCapture[] = judged.map(({ capture, change }) => ({
    ...capture,
    status: statusAfter(capture, change),
    objectKey: change?.end?.status === 'completed' ? change.end.objectKey : capture.objectKey,
    ended: change?.end !== undefined,
  }))
  if (rows.length === 0 && losers.length === 0) return { captures: changed, roomMade: false }
  const statement = 'select room_made as "roomMade", followers from change_captures($1, $2)'
  const { roomMade, followers } = onlyRow(await sql.query<Changed>(statement, [JSON.stringify(rows), losers]))
  const withdrawn = judged.flatMap(({ capture, withdraws }) => (withdraws ? [capture.id] : []))
  if (withdrawn.length > 0) await sql.query(withdraw, [withdrawn])
  return { captures: [...changed, ...followers.map((follower) => ({ ...follower, ended: true }))], roomMade }
}

/**
 * Judges captures under their row locks, in one transaction: the only place where a capture begins or ends, and with it
 * changes its charge and every meter. `judge` decides from the row alone; it may be called again after a conflict.
 * Unknown ids are left out. `roomMade`: a begin or an end freed room in a window that captures wait for.
 */
export const changeCaptures = (
  database: Pick<Database, 'transaction'>,
  ids: readonly string[],
  judge: (capture: JudgedCapture) => Judgement,
): Promise<{ captures: ChangedCapture[]; roomMade: boolean }> =>
  database.transaction((sql) => judgeAll(sql, ids, judge))

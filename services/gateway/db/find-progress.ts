import type { Status } from '#shared/capture/status.ts'
import { lanes, pools } from '#shared/capture/lane.ts'
import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

/** The progress of a capture. */
export type Progress = {
  readonly id: string
  readonly status: Status
  /** ISO 8601 UTC; null if it has not begun. */
  readonly startedAt: string | null
  /**
   * Number of pending captures of all accounts in its pool and lane that were accepted before it; null once it has begun. A
   * follower has the position of the capture that it follows, and is not counted itself.
   * Only the 10,000 oldest pending captures of a pool are counted; for any other capture this is a lower bound.
   */
  readonly position: number | null
}

const countedMax = 10_000

/** One bounded index scan per pool and lane for all requested captures. */
const statement = readStatement(import.meta.dirname, 'sql/find-progress.sql')

/** The progress of captures, without unknown ones. Costs little more for a thousand than for one. */
export const findProgress = (database: Sql, ids: readonly string[]): Promise<Progress[]> =>
  database.query(statement, [ids, pools, countedMax, lanes])

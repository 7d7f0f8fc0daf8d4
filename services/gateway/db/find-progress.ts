import type { Status } from '#shared/capture/status.ts'
import { pools } from '#shared/capture/lane.ts'
import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

/** How far a capture is. */
export type Progress = {
  readonly id: string
  readonly status: Status
  /** ISO 8601 UTC; null where nobody has begun it. */
  readonly startedAt: string | null
  /**
   * How many captures of its pool and lane, of all accounts, were accepted before it and wait; null once it has begun. One
   * that follows another has that one's place, and is not counted itself.
   * Counted among the 10,000 that have waited longest in its pool: of one that is not among them it is "at least".
   */
  readonly position: number | null
}

const countedMax = 10_000

/** One walk along the index for all captures that are asked for, however many wait. */
const statement = readStatement(import.meta.dirname, 'sql/find-progress.sql')

/** How far captures are; unknown ones are left out. Costs little more for a thousand than for one. */
export const findProgress = (database: Sql, ids: readonly string[]): Promise<Progress[]> =>
  database.query(statement, [ids, pools, countedMax])

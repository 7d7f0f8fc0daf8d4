import type { Lane, Pool } from '#shared/capture/lane.ts'
import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

/** A capture whose latest attempt has had its worker's time without an end. */
export type OverdueCapture = {
  readonly id: string
  readonly accountId: string
  readonly pool: Pool
  readonly lane: Lane
  readonly attempts: number
  readonly unendedStarts: number
  /** Seconds since it was accepted. */
  readonly ageSeconds: number
  /** From when its budget runs; its place among those that are overdue, with its id. */
  readonly since: string
}

const overdue = readStatement(import.meta.dirname, 'sql/find-overdue.sql')

/**
 * Up to `limit` captures whose latest attempt has less than `marginMs` left of its budget, or nothing, and those that
 * were accepted `longestWaitSeconds` ago and are handed back again and again, the longest over first; where `after` is given, those behind it in this order.
 */
export const findOverdue = (
  database: Sql,
  which: {
    readonly marginMs: number
    readonly longestWaitSeconds: number
    readonly limit: number
    readonly after?: Pick<OverdueCapture, 'id' | 'since'> | undefined
  },
): Promise<OverdueCapture[]> =>
  database.query(overdue, [which.marginMs, which.limit, which.after?.since, which.after?.id, which.longestWaitSeconds])

const neverBegun = readStatement(import.meta.dirname, 'sql/find-never-begun.sql')

/** Up to `limit` captures of each of these pools that were accepted longer than `waitSeconds` ago and never began, the oldest of a pool first. */
export const findNeverBegun = (
  database: Sql,
  which: { readonly pools: readonly Pool[]; readonly waitSeconds: number; readonly limit: number },
): Promise<Pick<OverdueCapture, 'id' | 'pool'>[]> =>
  database.query(neverBegun, [which.waitSeconds, which.limit, which.pools])

import { type Lane, lanes, type Pool } from '#shared/capture/lane.ts'
import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

/** A capture whose latest attempt has used up its time without an end. */
export type OverdueCapture = {
  readonly id: string
  readonly accountId: string
  readonly pool: Pool
  readonly lane: Lane
  readonly attempts: number
  readonly unendedStarts: number
  /** Seconds since it was accepted. */
  readonly ageSeconds: number
  /** End of its budget, in UTC; with the id, the sort key of overdue captures. */
  readonly deadline: string
}

const overdue = readStatement(import.meta.dirname, 'sql/find-overdue.sql')

/**
 * Finds up to `limit` captures, the earliest deadline first and beginning behind `after`, if given: those whose latest attempt
 * has less than `marginMs` of its budget left, and handed-back ones that were accepted `longestWaitSeconds` ago.
 */
export const findOverdue = (
  database: Sql,
  which: {
    readonly marginMs: number
    readonly longestWaitSeconds: number
    readonly limit: number
    readonly after?: Pick<OverdueCapture, 'id' | 'deadline'> | undefined
  },
): Promise<OverdueCapture[]> =>
  database.query(overdue, [
    which.marginMs,
    which.limit,
    which.after?.deadline,
    which.after?.id,
    which.longestWaitSeconds,
  ])

const unstarted = readStatement(import.meta.dirname, 'sql/find-unstarted.sql')

/** Finds up to `limit` captures of each pool that were accepted more than `waitSeconds` ago and never began, the oldest of a pool first. */
export const findUnstarted = (
  database: Sql,
  which: { readonly pools: readonly Pool[]; readonly waitSeconds: number; readonly limit: number },
): Promise<Pick<OverdueCapture, 'id' | 'pool'>[]> =>
  database.query(unstarted, [which.waitSeconds, which.limit, which.pools, lanes])

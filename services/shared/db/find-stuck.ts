import type { Lane, Pool } from '#shared/capture/lane.ts'
import type { Sql } from './connection.ts'

/** A capture whose latest attempt has had its worker's time without an end. */
export type OverdueCapture = {
  readonly id: string
  readonly accountId: string
  readonly pool: Pool
  readonly lane: Lane
  readonly attempts: number
}

/** Up to `limit` captures whose latest attempt has less than `marginMs` left of its budget, or nothing, the longest over first. */
export const findOverdue = (
  database: Sql,
  which: { readonly marginMs: number; readonly limit: number },
): Promise<OverdueCapture[]> =>
  database.query(
    `select id, account_id as "accountId", pool, lane, attempts from capture
      where status = 'processing' and attempt_started_at + (budget_ms - $1) * interval '1 millisecond' < now()
      order by attempt_started_at limit $2`,
    [which.marginMs, which.limit],
  )

/** Up to `limit` captures of these pools that were accepted longer than `waitSeconds` ago and never began, the oldest first. */
export const findNeverBegun = (
  database: Sql,
  which: { readonly pools: readonly Pool[]; readonly waitSeconds: number; readonly limit: number },
): Promise<Pick<OverdueCapture, 'id' | 'pool'>[]> =>
  database.query(
    `select id, pool from capture where status = 'pending' and follows is null and pool = any ($3)
        and created_at < now() - $1 * interval '1 second' order by created_at limit $2`,
    [which.waitSeconds, which.limit, which.pools],
  )

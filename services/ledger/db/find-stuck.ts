import type { Lane, Pool } from '#shared/capture/lane.ts'
import type { Sql } from '#shared/db/connection.ts'

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
  database.query(
    `select id, account_id as "accountId", pool, lane, attempts, unended_starts as "unendedStarts",
            extract(epoch from now() - created_at)::float8 as "ageSeconds", attempt_started_at::text as since
       from capture
      where status = 'processing'
        and (attempt_started_at + (budget_ms - $1) * interval '1 millisecond' < now()
             or (unended_starts = 0 and created_at < now() - $5 * interval '1 second'))
        and ($3::timestamptz is null or (attempt_started_at, id) > ($3, $4::uuid))
      order by attempt_started_at, id limit $2`,
    [which.marginMs, which.limit, which.after?.since, which.after?.id, which.longestWaitSeconds],
  )

/** Up to `limit` captures of each of these pools that were accepted longer than `waitSeconds` ago and never began, the oldest of a pool first. */
export const findNeverBegun = (
  database: Sql,
  which: { readonly pools: readonly Pool[]; readonly waitSeconds: number; readonly limit: number },
): Promise<Pick<OverdueCapture, 'id' | 'pool'>[]> =>
  database.query(
    `select c.id, c.pool from unnest($3::text[]) as p (name) cross join lateral (
       select id, pool from capture where status = 'pending' and follows is null and pool = p.name
          and created_at < now() - $1 * interval '1 second' order by created_at limit $2) as c`,
    [which.waitSeconds, which.limit, which.pools],
  )

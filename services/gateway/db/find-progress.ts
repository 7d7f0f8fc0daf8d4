import type { Status } from '#shared/capture/status.ts'
import { pools } from '#shared/capture/lane.ts'
import type { Sql } from '#shared/db/connection.ts'
import { isoTime } from '#shared/db/iso-time.ts'

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
const statement = `
  with oldest as materialized (
    select w.id, w.pool, w.lane, row_number() over (partition by w.pool, w.lane order by w.created_at, w.id) - 1 as place
      from unnest($2::text[]) as p (pool) cross join lateral (
        select id, pool, lane, created_at from capture where status = 'pending' and follows is null and pool = p.pool
         order by created_at limit $3) as w
  ), lanes as (select pool, lane, count(*) as captures from oldest group by 1, 2)
  select c.id, c.status, ${isoTime('c.started_at')} as "startedAt",
         case when c.status = 'pending' then coalesce(o.place, l.captures, 0)::integer end as position
    from capture c left join oldest o on o.id = coalesce(c.follows, c.id) left join lanes l on l.pool = c.pool and l.lane = c.lane
   where c.id = any ($1::uuid[])`

/** How far captures are; unknown ones are left out. Costs little more for a thousand than for one. */
export const findProgress = (database: Sql, ids: readonly string[]): Promise<Progress[]> =>
  database.query(statement, [ids, pools, countedMax])

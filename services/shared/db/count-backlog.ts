import { type Pool, pools } from '#shared/capture/lane.ts'
import type { Sql } from './connection.ts'

/** The captures of one pool. */
export type PoolCount = {
  readonly pool: Pool
  /** Accepted and not begun. */
  readonly pending: number
  /** Begun and not ended. */
  readonly processing: number
  /** Accepted ever, and a few more where an accept was rolled back or the server has crashed. */
  readonly accepted: number
  /** Age of the oldest that has not begun; 0 where there is none. */
  readonly oldestMs: number
}

/** Counts every pool's captures, from the meters of open lanes: its cost grows neither with how many wait nor with how many accounts there are. */
export const countBacklog = (database: Sql): Promise<PoolCount[]> =>
  database.query(
    `select p.pool,
       coalesce(sum(l.admitted + l.waiting - l.processing), 0)::integer as pending,
       coalesce(sum(l.processing), 0)::integer as processing,
       coalesce((select s.last_value from pg_sequences s
                  where s.schemaname = current_schema() and s.sequencename = 'accepted_' || p.pool), 0)::float8 as accepted,
       coalesce(greatest(0, extract(epoch from now() - (
         select min(c.created_at) from capture c where c.status = 'pending' and c.follows is null and c.pool = p.pool)) * 1000), 0)::float8
         as "oldestMs"
     from unnest($1::text[]) as p (pool) left join lane_meter l on l.pool = p.pool and l.stage > 0
     group by p.pool`,
    [pools],
  )

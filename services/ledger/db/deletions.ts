import type { Lane, Pool } from '#shared/capture/lane.ts'
import type { Sql } from '#shared/db/connection.ts'

/** What a deleted capture may have left outside of the database, to be looked for now. */
export type Deletion = {
  readonly id: string
  /** 0 at once; 1 and 2 again, when a publish and an attempt that were under way must be over. */
  readonly step: number
  readonly accountId: string
  readonly pool: Pool
  readonly lane: Lane
  /** ISO 8601 UTC. */
  readonly acceptedAt: string
}

/** What was taken is left to its taker this long; then the next one takes it. */
const claimSeconds = 15

/** Claims up to `limit` deletions that are due, the longest due first. */
export const takeDeletions = (database: Sql, limit: number): Promise<Deletion[]> =>
  database.query(
    `update deletion set due_at = now() + $2 * interval '1 second' where (capture_id, step) in
       (select capture_id, step from deletion where due_at <= now() order by due_at limit $1 for update skip locked)
     returning capture_id as id, step, account_id as "accountId", pool, lane, iso_time(accepted_at) as "acceptedAt"`,
    [limit, claimSeconds],
  )

/** Forgets a deletion that is done. */
export const forgetDeletion = async (database: Sql, of: Pick<Deletion, 'id' | 'step'>): Promise<void> => {
  await database.query('delete from deletion where capture_id = $1 and step = $2', [of.id, of.step])
}

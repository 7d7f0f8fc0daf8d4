import type { Lane, Pool } from '#shared/capture/lane.ts'
import type { Sql } from '#shared/db/connection.ts'

/** A capture that was deleted or withdrawn, whose messages and objects are to be removed. */
export type Deletion = {
  readonly id: string
  /** 0 at once; 1 and 2 later, when a publish and an attempt that had begun must have ended. */
  readonly step: number
  readonly accountId: string
  readonly pool: Pool
  readonly lane: Lane
  /** ISO 8601 UTC. */
  readonly acceptedAt: string
}

/** Duration of a claim; a deletion that is not completed by then may be claimed again. */
const claimSeconds = 15

/** Claims up to `limit` deletions that are due, the longest due first. */
export const takeDeletions = (database: Sql, limit: number): Promise<Deletion[]> =>
  database.query(
    `update deletion set due_at = now() + $2 * interval '1 second' where (capture_id, step) in
       (select capture_id, step from deletion where due_at <= now() order by due_at limit $1 for update skip locked)
     returning capture_id as id, step, account_id as "accountId", pool, lane, iso_time(accepted_at) as "acceptedAt"`,
    [limit, claimSeconds],
  )

/** Deletes the row of a deletion that is done. */
export const completeDeletion = async (database: Sql, { id, step }: Pick<Deletion, 'id' | 'step'>): Promise<void> => {
  await database.query('delete from deletion where capture_id = $1 and step = $2', [id, step])
}

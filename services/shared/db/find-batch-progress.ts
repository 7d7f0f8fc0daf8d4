import type { Status } from '#shared/capture/status.ts'
import type { Sql } from './connection.ts'
import { isoTime } from './iso-time.ts'

/** A capture of a batch. */
export type BatchMember = { readonly index: number; readonly id: string; readonly status: Status }

/** How far a batch is. Captures that were deleted stay in the counts and are not among the members. */
export type BatchProgress = {
  readonly id: string
  readonly total: number
  readonly processing: number
  readonly completed: number
  readonly failed: number
  /** ISO 8601 UTC. */
  readonly createdAt: string
  /** In the order of the request. */
  readonly members: readonly BatchMember[]
}

const progress = `select b.id, b.total, b.processing, b.completed, b.failed, ${isoTime('b.created_at')} as "createdAt",
  coalesce(
    (select json_agg(json_build_object('index', c.batch_index, 'id', c.id, 'status', c.status) order by c.batch_index)
       from capture c where c.batch_id = b.id and c.account_id = b.account_id), '[]') as members
  from batch b where b.id = $1 and b.account_id = $2`

/** How far an account's batch is; undefined where there is none, another account's included. */
export const findBatchProgress = async (
  database: Sql,
  of: { readonly id: string; readonly accountId: string },
): Promise<BatchProgress | undefined> => {
  const [row] = await database.query<BatchProgress>(progress, [of.id, of.accountId])
  return row
}

import type { FoundCapture } from '#shared/db/find-capture.ts'
import type { Sql } from '#shared/db/connection.ts'
import { isoTime } from '#shared/db/iso-time.ts'

/** A batch and those of its captures that were not deleted, in input order; deleted ones stay counted. */
export type FoundBatch = {
  readonly id: string
  readonly total: number
  readonly processing: number
  readonly completed: number
  readonly failed: number
  /** ISO 8601 UTC with microseconds. */
  readonly createdAt: string
  readonly members: readonly (Pick<FoundCapture, 'id' | 'status' | 'url' | 'options' | 'createdAt'> & {
    readonly index: number
  })[]
}

const find = `select b.id, b.total, b.processing, b.completed, b.failed, ${isoTime('b.created_at')} as "createdAt",
  (select coalesce(json_agg(json_build_object('index', c.batch_index, 'id', c.id, 'status', c.status, 'url', c.url,
      'options', c.options, 'createdAt', ${isoTime('c.created_at')}) order by c.batch_index), '[]')
     from capture c where c.batch_id = b.id) as members
  from batch b where b.id = $1 and b.account_id = $2`

/** A batch of an account by its id, a UUID; undefined where there is none, another account's included. */
export const findBatch = async (
  database: Sql,
  of: { readonly id: string; readonly accountId: string },
): Promise<FoundBatch | undefined> => {
  const [row] = await database.query<FoundBatch>(find, [of.id, of.accountId])
  return row
}

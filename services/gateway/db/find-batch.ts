import type { FoundCapture } from '#shared/db/find-capture.ts'
import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

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

const find = readStatement(import.meta.dirname, 'sql/find-batch.sql')

/** A batch of an account by its id, a UUID; undefined where there is none, another account's included. */
export const findBatch = async (
  database: Sql,
  of: { readonly id: string; readonly accountId: string },
): Promise<FoundBatch | undefined> => {
  const [row] = await database.query<FoundBatch>(find, [of.id, of.accountId])
  return row
}

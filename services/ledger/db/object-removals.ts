import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

const expire = readStatement(import.meta.dirname, 'sql/expire-objects.sql')

/** Wait before an object that a pending upload reads is looked at again. */
const neededSeconds = 600

/**
 * Marks for removal those of up to `limit` objects whose retention has ended that no pending upload reads; their records stay.
 * Resolves to the number of objects that it looked at.
 */
export const expireObjects = async (database: Sql, limit: number): Promise<number> => {
  const rows = await database.query(expire, [limit, neededSeconds])
  return rows.length
}

const orphans = readStatement(import.meta.dirname, 'sql/remove-orphans.sql')

/**
 * Marks those of `keys` for removal to which no record refers, except objects of open captures, whose reports may name them.
 * Resolves to the number. Keys must have the form of `objects.ts`.
 */
export const removeOrphans = async (database: Sql, keys: readonly string[]): Promise<number> => {
  if (keys.length === 0) return 0
  const rows = await database.query(orphans, [keys])
  return rows.length
}

/** Wait before an object of a hand-back is removed, longer than a store that answered late needs. */
const doubtfulSeconds = 600

/**
 * Orders the removal, in ten minutes, of objects that a store may hold of attempts which were handed back. It is withdrawn if a record
 * refers to the object by then, and waits as long as its capture is open. Keys must have the form of `objects.ts`.
 */
export const removeDoubtful = async (database: Sql, keys: readonly string[]): Promise<void> => {
  if (keys.length === 0) return
  await database.query(
    `insert into object_removal (key, not_before)
     select k.key, now() + $2 * interval '1 second' from unnest($1::text[]) as k (key) on conflict do nothing`,
    [keys, doubtfulSeconds],
  )
}

/** Duration of a claim; a removal that is not completed by then may be claimed again. */
const claimSeconds = 60

const take = readStatement(import.meta.dirname, 'sql/take-removals.sql')

/**
 * Claims up to `limit` objects that may be removed now, the longest due first, and withdraws the removals of those to which a record
 * refers by now. Postpones those of open captures, whose reports may name them. Resolves to the keys of the claimed ones.
 */
export const takeRemovals = async (database: Sql, limit: number): Promise<string[]> => {
  const rows = await database.query<{ key: string }>(take, [limit, claimSeconds, doubtfulSeconds])
  return rows.map(({ key }) => key)
}

/** Postpones removals, so that objects which the store refused to delete do not block the others. */
export const postponeRemovals = async (database: Sql, keys: readonly string[], waitMs: number): Promise<void> => {
  if (keys.length === 0) return
  await database.query(
    `update object_removal set not_before = now() + $2 * interval '1 millisecond' where key = any ($1)`,
    [keys, waitMs],
  )
}

/** Deletes the rows of removals whose objects are deleted. */
export const completeRemovals = async (database: Sql, keys: readonly string[]): Promise<void> => {
  await database.query('delete from object_removal where key = any ($1)', [keys])
}

import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

const expire = readStatement(import.meta.dirname, 'sql/expire-objects.sql')

/** Marks up to `limit` objects for removal whose retention has ended; their records stay. Answers how many. */
export const expireObjects = async (database: Sql, limit: number): Promise<number> => {
  const rows = await database.query(expire, [limit])
  return rows.length
}

const orphans = readStatement(import.meta.dirname, 'sql/remove-orphans.sql')

/**
 * Marks those of `keys` for removal that nothing refers to: no record, and no capture that may still be reported with it.
 * Answers how many. Keys are of the form that `objects.ts` makes.
 */
export const removeOrphans = async (database: Sql, keys: readonly string[]): Promise<number> => {
  if (keys.length === 0) return 0
  const rows = await database.query(orphans, [keys])
  return rows.length
}

/** What was taken is left to its taker this long; then another takes it. */
const claimSeconds = 60

/** Claims up to `limit` objects that may be removed now, those first that wait longest; answers their keys. */
export const takeRemovals = async (database: Sql, limit: number): Promise<string[]> => {
  const rows = await database.query<{ key: string }>(
    `update object_removal set not_before = now() + $2 * interval '1 second' where key in
       (select key from object_removal where not_before <= now() order by not_before limit $1 for update skip locked)
     returning key`,
    [limit, claimSeconds],
  )
  return rows.map(({ key }) => key)
}

/** Has objects removed later, so that those which the store keeps do not stand before all others. */
export const postponeRemovals = async (database: Sql, keys: readonly string[], waitMs: number): Promise<void> => {
  if (keys.length === 0) return
  await database.query(
    `update object_removal set not_before = now() + $2 * interval '1 millisecond' where key = any ($1)`,
    [keys, waitMs],
  )
}

/** Forgets objects that the store no longer holds. */
export const forgetRemovals = async (database: Sql, keys: readonly string[]): Promise<void> => {
  await database.query('delete from object_removal where key = any ($1)', [keys])
}

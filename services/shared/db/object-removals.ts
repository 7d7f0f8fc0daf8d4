import type { Sql } from './connection.ts'

/** Marks up to `limit` objects for removal whose retention has ended; their records stay. Answers how many. */
export const expireObjects = async (database: Sql, limit: number): Promise<number> => {
  const rows = await database.query(
    `with expired as (
       delete from stored_object where key in (
         select key from stored_object where expires_at <= now() order by expires_at limit $1 for update skip locked)
       returning key)
     insert into object_removal (key, not_before) select key, now() from expired on conflict do nothing returning key`,
    [limit],
  )
  return rows.length
}

/** Keys of up to `limit` objects that may be removed now. */
export const findRemovals = async (database: Sql, limit: number): Promise<string[]> => {
  const statement = 'select key from object_removal where not_before <= now() order by not_before, key limit $1'
  const rows = await database.query<{ key: string }>(statement, [limit])
  return rows.map(({ key }) => key)
}

/** Forgets objects that the store no longer holds. */
export const forgetRemovals = async (database: Sql, keys: readonly string[]): Promise<void> => {
  await database.query('delete from object_removal where key = any ($1)', [keys])
}

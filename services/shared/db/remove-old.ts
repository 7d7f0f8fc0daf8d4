import { onlyRow, type Sql } from './connection.ts'

/** Which rows are old: those of before `days` days; `limit` bounds how many are removed at a time. */
export type Old = { readonly days: number; readonly limit: number }

/** Removes captures that ended that long ago and whose images are over; see `sql/remove-ended.sql`. Answers how many. */
export const removeEnded = async (database: Sql, { days, limit }: Old): Promise<number> => {
  const statement = 'select remove_ended(now() - make_interval(days => $1), $2) as removed'
  return onlyRow(await database.query<{ removed: number }>(statement, [days, limit])).removed
}

/** Removes batches that were accepted that long ago and of which no capture is left. Answers how many. */
export const removeEmptyBatches = async (database: Sql, { days, limit }: Old): Promise<number> => {
  const rows = await database.query(
    `delete from batch where id in (
       select b.id from batch b
        where b.created_at < now() - make_interval(days => $1)
          and not exists (select from capture c where c.batch_id = b.id)
        order by b.created_at limit $2 for update skip locked)
     returning id`,
    [days, limit],
  )
  return rows.length
}

import { onlyRow, type Sql } from './connection.ts'

/** Which rows are old: those of before `days` days; `limit` bounds how many are looked at in order of age. */
export type Old = { readonly days: number; readonly limit: number }

/** `lookedAt` is less than the limit where nothing is left, or where another process is at it. */
export type Removed = { readonly lookedAt: number; readonly removed: number }

const call = (name: 'remove_ended' | 'remove_empty_batches') => `
select looked_at as "lookedAt", removed from ${name}(now() - make_interval(days => $1), $2)`

/** Removes captures that ended that long ago and whose images are over; see `sql/remove-ended.sql`. */
export const removeEnded = async (database: Sql, { days, limit }: Old): Promise<Removed> =>
  onlyRow(await database.query<Removed>(call('remove_ended'), [days, limit]))

/** Removes batches that were accepted that long ago and of which no capture is left; see `sql/remove-empty-batches.sql`. */
export const removeEmptyBatches = async (database: Sql, { days, limit }: Old): Promise<Removed> =>
  onlyRow(await database.query<Removed>(call('remove_empty_batches'), [days, limit]))

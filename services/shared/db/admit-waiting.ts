import { onlyRow, type Sql } from './connection.ts'

/** Admits up to `limit` waiting captures, account by account in turns; see `sql/admit-waiting.sql`. Answers how many. */
export const admitWaiting = async (
  database: Sql,
  bounds: { readonly windowSize: number; readonly limit: number },
): Promise<number> => {
  const statement = 'select admit_waiting($1, $2) as admitted'
  return onlyRow(await database.query<{ admitted: number }>(statement, [bounds.windowSize, bounds.limit])).admitted
}

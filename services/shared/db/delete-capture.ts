import { onlyRow, type Sql } from './connection.ts'

/** Deletes a capture of an account, in whatever state; see `sql/delete-capture.sql`. Answers whether there was one. */
export const deleteCapture = async (
  database: Sql,
  of: { readonly id: string; readonly accountId: string },
): Promise<boolean> => {
  const statement = 'select delete_capture($1, $2) as deleted'
  return onlyRow(await database.query<{ deleted: boolean }>(statement, [of.id, of.accountId])).deleted
}

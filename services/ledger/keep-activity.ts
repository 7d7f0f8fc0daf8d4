import type { Sql } from '#shared/db/connection.ts'

type Dependencies = { readonly database: Sql; readonly activityDays: number }

/** Prepares the days to come in the table of activities, and drops those past retention. Resolves to false: there is no more. */
export const keepActivity = async ({ database, activityDays }: Dependencies): Promise<boolean> => {
  await database.query('select keep_activity($1)', [activityDays])
  return false
}

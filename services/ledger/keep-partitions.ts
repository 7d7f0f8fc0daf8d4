import type { Sql } from '#shared/db/connection.ts'

type Dependencies = { readonly database: Sql; readonly activityDays: number; readonly rowRetentionDays: number }

/**
 * Length in days, 1 or more, of a partition of captures: a twelfth of their retention, so that statements which read all partitions
 * read about twenty.
 */
export const partitionDays = (rowRetentionDays: number): number => Math.max(1, Math.floor(rowRetentionDays / 12))

/**
 * Prepares the partitions to come of captures and of activities, and drops the days of activities past retention. Resolves to
 * false: there is no more. If one fails, the other is still kept, and the first error is thrown last.
 */
export const keepPartitions = async ({ database, activityDays, rowRetentionDays }: Dependencies): Promise<boolean> => {
  const kept = await Promise.allSettled([
    database.query('select keep_captures($1)', [partitionDays(rowRetentionDays)]),
    database.query('select keep_activity($1)', [activityDays]),
  ])
  for (const each of kept) if (each.status === 'rejected') throw each.reason
  return false
}

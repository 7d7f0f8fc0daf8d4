import { lanes } from '#shared/capture/lane.ts'
import { countBacklog } from '#shared/db/count-backlog.ts'
import type { Sql } from '#shared/db/connection.ts'

/** The captures of each pool that wait and run, by lane, and the age of the oldest that waits. */
export const describePools = async (database: Sql) => {
  const backlog = await countBacklog(database)
  return backlog.map(({ pool, pending, processing, oldestMs, lanes: counts }) => ({
    pool,
    pending,
    processing,
    oldest_seconds: oldestMs / 1000,
    lanes: lanes.map((lane) => {
      const { pending: waiting, processing: running, oldestMs: laneOldestMs } = counts[lane]
      return { lane, pending: waiting, processing: running, oldest_seconds: laneOldestMs / 1000 }
    }),
  }))
}

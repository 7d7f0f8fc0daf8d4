import { lanes, pools } from '#shared/capture/lane.ts'
import { countBacklog } from '#shared/db/count-backlog.ts'
import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'

type LaneCount = {
  readonly pool: string
  readonly lane: string
  readonly pending: number
  readonly processing: number
}

const countLanes = readStatement(import.meta.dirname, 'sql/count-lanes.sql')

/** The captures of each pool that wait and run, by lane, and the age of the oldest that waits. */
export const describePools = async (database: Sql) => {
  const [backlog, open] = await Promise.all([countBacklog(database), database.query<LaneCount>(countLanes)])
  return pools.map((pool) => {
    const { pending = 0, processing = 0, oldestMs = 0 } = backlog.find((each) => each.pool === pool) ?? {}
    return {
      pool,
      pending,
      processing,
      oldest_seconds: oldestMs / 1000,
      lanes: lanes.map((lane) => {
        const found = open.find((each) => each.pool === pool && each.lane === lane)
        return { lane, pending: found?.pending ?? 0, processing: found?.processing ?? 0 }
      }),
    }
  })
}

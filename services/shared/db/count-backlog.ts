import { byLane, type Lane, lanes, type Pool, pools } from '#shared/capture/lane.ts'
import type { Sql } from './connection.ts'
import { readStatement } from './read-statement.ts'

/** The captures of one lane of a pool. */
export type LaneCount = {
  /** Accepted and not begun. */
  readonly pending: number
  /** Begun and not ended. */
  readonly processing: number
  /** Accepted since the database has counted by lane; slightly too high after a rolled-back accept or a server crash. */
  readonly accepted: number
  /** Age of the oldest that has not begun; 0 if there is none. */
  readonly oldestMs: number
}

/** The captures of one pool, in all and by lane. */
export type PoolCount = LaneCount & { readonly pool: Pool; readonly lanes: Readonly<Record<Lane, LaneCount>> }

const count = readStatement(import.meta.dirname, 'sql/count-backlog.sql')

const noCaptures: LaneCount = { pending: 0, processing: 0, accepted: 0, oldestMs: 0 }

const addLanes = (one: LaneCount, other: LaneCount): LaneCount => ({
  pending: one.pending + other.pending,
  processing: one.processing + other.processing,
  accepted: one.accepted + other.accepted,
  oldestMs: Math.max(one.oldestMs, other.oldestMs),
})

/**
 * Counts every pool's captures from the meters of open lanes: the cost depends neither on the number of waiting captures nor on
 * that of accounts.
 */
export const countBacklog = async (database: Sql): Promise<PoolCount[]> => {
  const rows = await database.query<LaneCount & { pool: Pool; lane: Lane }>(count, [pools, lanes])
  return pools.map((pool) => {
    const inLane = (lane: Lane): LaneCount => {
      const { pending, processing, accepted, oldestMs } =
        rows.find((row) => row.pool === pool && row.lane === lane) ?? noCaptures
      return { pending, processing, accepted, oldestMs }
    }
    const counts = byLane(inLane)
    return { pool, ...Object.values(counts).reduce(addLanes), lanes: counts }
  })
}

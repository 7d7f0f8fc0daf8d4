import { type Pool, pools } from '#shared/capture/lane.ts'
import type { Sql } from './connection.ts'
import { readStatement } from './read-statement.ts'

/** The captures of one pool. */
export type PoolCount = {
  readonly pool: Pool
  /** Accepted and not begun. */
  readonly pending: number
  /** Begun and not ended. */
  readonly processing: number
  /** Accepted ever; slightly too high after a rolled-back accept or a server crash. */
  readonly accepted: number
  /** Age of the oldest that has not begun; 0 if there is none. */
  readonly oldestMs: number
}

const count = readStatement(import.meta.dirname, 'sql/count-backlog.sql')

/** Counts every pool's captures from the meters of open lanes: the cost depends neither on the number of waiting captures nor on that of accounts. */
export const countBacklog = (database: Sql): Promise<PoolCount[]> => database.query(count, [pools])

import { LockMode, raw } from '@mikro-orm/postgresql'
import { type Pool, pools } from '#shared/capture/lane.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { type Actor, recordChange } from './audit.ts'
import type { Database, Sql } from './connection.ts'
import { PoolPause as Row } from './entities/pool-pause.ts'
import { readStatement } from './read-statement.ts'

/** Longest text of the reason, in characters. */
export const reasonMax = 200

/** Longest time from a pause to its `until`. */
export const pauseDaysMax = 7
const dayMs = 86_400_000

/** States of a pause: not applied to the queue yet, or older reports are unread; captures run; no capture runs. */
export const pauseStates = ['pausing', 'draining', 'drained'] as const

/** A pause in force. Times are ISO 8601 UTC. */
export type PoolPause = {
  readonly pool: Pool
  readonly since: string
  readonly by: string
  readonly reason: string
  /** Null: until the pool is resumed. */
  readonly until: string | null
  readonly state: (typeof pauseStates)[number]
}

const list = readStatement(import.meta.dirname, 'sql/list-pauses.sql')

/** The pauses in force, at most one for each pool. */
export const listPauses = (database: Sql): Promise<PoolPause[]> => database.query(list)

/** A time to the minute, still ISO 8601. */
const minuteOf = (isoTime: string) => `${isoTime.slice(0, 'YYYY-MM-DDThh:mm'.length)}Z`

/** The state of a pool that is paused, for operators: since when, until when, by whom and why. */
export const describePause = ({ state, since, until, by, reason }: PoolPause): string =>
  `${state}, paused since ${minuteOf(since)}${until === null ? '' : ` until ${minuteOf(until)}`} by ${by}: ${reason}`

/** The pool with this name. Throws `NOT_FOUND`. */
export const parsePool = (name: string): Pool => {
  const pool = pools.find((each) => each === name)
  if (pool) return pool
  throw new AppError('NOT_FOUND', { publicMessage: `there is no pool ${name}: pools are ${pools.join(', ')}` })
}

const fieldError = (field: string, fault: string) =>
  new AppError('VALIDATION_ERROR', { publicMessage: `${field} ${fault}`, details: { [field]: [fault] } })

const checkPause = ({ reason, until }: { readonly reason: string; readonly until: Date | null }, now: Date) => {
  if (!/^[^\p{Cc}\p{Cs}]+$/u.test(reason) || reason.length > reasonMax)
    throw fieldError('reason', `must be one line of 1 to ${reasonMax} characters`)
  if (until && (until <= now || until.getTime() - now.getTime() > pauseDaysMax * dayMs))
    throw fieldError('until', `must be a moment of the next ${pauseDaysMax} days`)
}

/**
 * Pauses a pool until it is resumed, or until `until`, at most seven days ahead: workers begin none of its captures, once the
 * ledger has applied it within seconds. A pause in force gets the new reason and end. Throws `VALIDATION_ERROR`.
 */
export const pausePool = async (
  database: Database,
  { pool, reason, until }: { readonly pool: Pool; readonly reason: string; readonly until: Date | null },
  actor: Actor,
): Promise<void> => {
  const now = new Date()
  checkPause({ reason, until }, now)
  await database.entities(async (entities) => {
    // Two first pauses at once find no row that they could lock.
    await entities.execute(`select pg_advisory_xact_lock(hashtext('shutterfleet pause pool'))`)
    const current = await entities.findOne(Row, { pool }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    const isInForce = current !== null && (!current.until || current.until > now)
    const pause = { since: isInForce ? current.since : now, pausedBy: actor, reason, until, appliedAt: null }
    if (current) entities.assign(current, pause)
    else entities.create(Row, { pool, ...pause })
    const detail = { reason, until: until?.toISOString() ?? null }
    recordChange(entities, { actor, action: 'pool.pause', target: pool, detail })
  })
}

/** Ends the pause of a pool; the ledger applies it within seconds. Idempotent. */
export const resumePool = (database: Database, pool: Pool, actor: Actor): Promise<void> =>
  database.entities(async (entities) => {
    const current = await entities.findOne(Row, { pool }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    if (!current) return
    entities.remove(current)
    recordChange(entities, { actor, action: 'pool.resume', target: pool })
  })

/** Removes the pauses whose time is over. */
export const removeEndedPauses = async (database: Database): Promise<void> => {
  const ended = await database.query<{ pool: string }>('select pool from pool_pause where until <= now()')
  if (ended.length === 0) return
  await database.entities(async (entities) => {
    const rows = await entities.find(Row, { until: { $lte: raw('now()') } }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    for (const row of rows) {
      entities.remove(row)
      recordChange(entities, { actor: 'system', action: 'pool.resume', target: row.pool })
    }
  })
}

/** Records that the queue holds the captures of this pause back, unless it was changed meanwhile. */
export const recordApplied = async (database: Sql, { pool, since, until }: PoolPause): Promise<void> => {
  await database.query(
    `update pool_pause set applied_at = now()
      where pool = $1 and since = $2 and until is not distinct from $3 and applied_at is null`,
    [pool, since, until],
  )
}

import { setTimeout as delay } from 'node:timers/promises'
import { type Command, dataFlag, flagText, requiredText } from './command/command.ts'
import { readDuration } from './command/duration.ts'
import { table } from './command/table.ts'
import { withDatabase } from './with-database.ts'
import { type Pool, pools } from '#shared/capture/lane.ts'
import type { Database, Sql } from '#shared/db/connection.ts'
import { countBacklog } from '#shared/db/count-backlog.ts'
import { describePause, listPauses, parsePool, pausePool, type PoolPause, resumePool } from '#shared/db/pool-pauses.ts'

/** Longest wait until the ledger, which looks every second or two, at rest every ten, has applied a pause. */
const applyMs = 15_000
const pollMs = 200

/** A pool as the commands print it; `pause` is null if it is not paused. */
type PoolView = {
  readonly pool: Pool
  readonly pending: number
  readonly processing: number
  readonly pause: PoolPause | null
}

/** `PoolView`, for the help. */
const viewShape = '{ pool, pending, processing, pause: { pool, since, by, reason, until, state } | null }'

const readViews = async (database: Sql): Promise<(pool: Pool) => PoolView> => {
  const [counts, pauses] = await Promise.all([countBacklog(database), listPauses(database)])
  return (pool) => {
    const { pending = 0, processing = 0 } = counts.find((each) => each.pool === pool) ?? {}
    return { pool, pending, processing, pause: pauses.find((pause) => pause.pool === pool) ?? null }
  }
}

const readPool = async (database: Sql, pool: Pool): Promise<PoolView> => (await readViews(database))(pool)

/** Reads the pool until its pause is applied, or for fifteen seconds. */
const waitUntilApplied = async (database: Sql, name: Pool): Promise<PoolView> => {
  const end = performance.now() + applyMs
  let pool = await readPool(database, name)
  while (pool.pause?.state === 'pausing' && performance.now() < end) {
    await delay(pollMs)
    pool = await readPool(database, name)
  }
  return pool
}

/** `pool list`: captures that wait and run in each pool, and whether it is paused. */
export const poolList: Command = {
  usage: 'pool list [--data DIR]',
  summary: 'lists the pools: captures that wait and run, and whether they are paused',
  json: `[${viewShape}]`,
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const views = pools.map(await withDatabase(env, args, readViews))
    print({
      json: views,
      text: table([
        ['POOL', 'PENDING', 'PROCESSING', 'STATE'],
        ...views.map(({ pool, pending, processing, pause }) => [
          pool,
          String(pending),
          String(processing),
          pause ? describePause(pause) : 'running',
        ]),
      ]),
    })
  },
}

const describePaused = ({ pool, processing, pause }: PoolView): string => {
  if (pause?.state === 'pausing')
    return `pool ${pool} is to be paused, but the ledger has not applied it within ${applyMs / 1000} s: does it run, and keep up with reports?`
  return `pool ${pool} is paused: captures are accepted and wait; ${processing} still run ('pool list' says drained once none does)`
}

/** `pool pause`: workers begin none of the captures of a pool until it is resumed. Waits until this is applied. */
export const poolPause: Command = {
  usage: 'pool pause POOL --reason TEXT [--for 2h] [--data DIR]',
  summary: 'lets the captures of a pool wait: they are accepted, and no worker begins one',
  json: viewShape,
  flags: {
    reason: { type: 'string', value: 'TEXT', help: 'why, for other operators' },
    for: { type: 'string', value: 'TIME', help: 'ends the pause by itself, at most after 7d (default: pool resume)' },
    data: dataFlag,
  },
  run: async ({ env, print }, args) => {
    const pool = parsePool(args.operands[0] ?? '')
    const reason = requiredText(args, 'reason')
    const time = flagText(args, 'for')
    const until = time === undefined ? null : new Date(Date.now() + readDuration('for', time))
    const paused = await withDatabase(env, args, async (database: Database) => {
      await pausePool(database, { pool, reason, until }, 'command line')
      return waitUntilApplied(database, pool)
    })
    print({ json: paused, text: describePaused(paused) })
  },
}

/** `pool resume`: ends the pause of a pool. */
export const poolResume: Command = {
  usage: 'pool resume POOL [--data DIR]',
  summary: 'ends the pause of a pool: workers begin its captures within seconds',
  json: viewShape,
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const pool = parsePool(args.operands[0] ?? '')
    const resumed = await withDatabase(env, args, async (database) => {
      await resumePool(database, pool, 'command line')
      return readPool(database, pool)
    })
    print({ json: resumed, text: `pool ${pool} is resumed: ${resumed.pending} captures wait` })
  },
}

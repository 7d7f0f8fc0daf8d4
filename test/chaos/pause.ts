import { setTimeout as delay } from 'node:timers/promises'
import { listPauses, pausePool, resumePool } from '#shared/db/pool-pauses.ts'
import { eventually } from '#test/helpers/eventually.ts'
import type { Pause } from './history.ts'
import type { Plan } from './plan.ts'
import type { World } from './world.ts'

const pool = 'standard'
/** Longest wait until nothing runs, while something else is disturbed; the pause is lifted then. */
const drainMs = 20_000
/** Longest wait for PostgreSQL. */
const storeMs = 60_000

const isReported = async ({ database }: World): Promise<boolean> =>
  (await listPauses(database)).some((pause) => pause.pool === pool && pause.state === 'drained')

/** Pauses the pool until nothing runs and for the planned time from then on. */
export const pauseForAWhile = async (world: World, { atMs, forMs }: NonNullable<Plan['pause']>): Promise<Pause> => {
  await delay(atMs)
  const startMs = performance.now()
  const insist = (change: () => Promise<void>, what: string) =>
    eventually(async () => change().then(() => true), { withinMs: storeMs, what, everyMs: 200 })
  const pause = () => pausePool(world.database, { pool, reason: 'chaos', until: null }, 'system')
  await insist(pause, 'the pool is paused')
  const drainedMs = await eventually(() => isReported(world), { withinMs: drainMs, everyMs: 100 }).then(
    () => performance.now(),
    () => undefined,
  )
  if (drainedMs !== undefined) await delay(forMs)
  const heldUntilMs = performance.now()
  await insist(() => resumePool(world.database, pool, 'system'), 'the pool is resumed')
  return { kind: 'pause', startMs, drainedMs, heldUntilMs, endMs: performance.now() }
}

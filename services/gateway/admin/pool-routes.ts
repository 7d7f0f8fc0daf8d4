import { listPauses, parsePool, pauseDaysMax, pausePool, reasonMax, resumePool } from '#shared/db/pool-pauses.ts'
import { object, optional, text } from '#shared/schema/fields.ts'
import { timestampPattern } from '#gateway/http/read-moment.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import { adminRoute, type AdminRoute } from './admin-route.ts'
import { poolPause } from './installation-records.ts'
import { readMoment, storedLine } from './read-fields.ts'

const untilHint = `a moment of the next ${pauseDaysMax} days such as 2030-01-31T00:00:00Z`
const tag = 'Installation'
const path = '/pools/:id/pause'

/** Pausing pools: their queues accept captures, and no worker begins one. */
export const poolRoutes: readonly AdminRoute[] = [
  adminRoute({
    name: 'pause_pool',
    method: 'PUT',
    path,
    tag,
    summary: 'Pause a pool',
    description:
      'Pauses a pool within seconds: captures are accepted and wait, captures that run end as usual, and no worker begins another one until the pool is resumed. A pause in force gets the new reason and end.',
    body: {
      name: 'PauseFields',
      schema: object({
        reason: storedLine(1, reasonMax, 'Why, for other operators.', 'New egress rules'),
        ...optional({
          until: text(
            `When the pause ends by itself, at most ${pauseDaysMax} days ahead; by default when the pool is resumed.`,
            { pattern: timestampPattern, expected: untilHint },
          ),
        }),
      }),
      example: { reason: 'New egress rules' },
    },
    answer: { name: 'PoolPauseAnswer', description: 'The pause.', data: poolPause },
    run: async ({ database, accepting }, { actor, id, body: { reason, until } }) => {
      const pool = parsePool(id)
      const end = until === undefined ? null : readMoment('until', until, untilHint)
      await pausePool(database, { pool, reason, until: end }, actor)
      accepting.publisher.wakeRelay()
      return orNotFound((await listPauses(database)).find((pause) => pause.pool === pool))
    },
  }),
  adminRoute({
    name: 'resume_pool',
    method: 'DELETE',
    path,
    tag,
    summary: 'Resume a pool',
    description: 'Ends the pause of a pool within seconds; without one, nothing changes.',
    run: async ({ database, accepting }, { actor, id }) => {
      await resumePool(database, parsePool(id), actor)
      accepting.publisher.wakeRelay()
      return undefined
    },
  }),
]

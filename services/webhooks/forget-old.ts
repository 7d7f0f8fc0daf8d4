import type { Sql } from '#shared/db/connection.ts'
import { forgetDeliveries } from '#shared/db/note-attempts.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import { createBell } from '#shared/process/bell.ts'
import type { Events } from './events.ts'

/** How long what was sent is kept for its account to look at. */
const keepDays = 30
const everyMs = 60_000
/** Of one statement and of one turn: what is more waits a minute. */
const batch = 500
const batchesMax = 20

/** Forgets deliveries that ended 30 days ago and earlier, in small batches, until `stop` aborts. A turn that fails is told. */
export const forgetOld = async (
  deps: { readonly database: Sql; readonly events: Pick<Events, 'forgotten' | 'turnFailed'> },
  stop: AbortSignal,
): Promise<void> => {
  const bell = createBell()
  let failing = false
  while (!stop.aborted) {
    try {
      let forgotten = 0
      for (let round = 0; round < batchesMax && forgotten === round * batch && !stop.aborted; round += 1) {
        forgotten += await forgetDeliveries(deps.database, keepDays, batch)
      }
      if (forgotten > 0) deps.events.forgotten(forgotten)
      failing = false
    } catch (error) {
      deps.events.turnFailed(toAppError(error), !failing)
      failing = true
    }
    await bell.wait(everyMs, stop)
  }
}

import { byLane } from '#shared/capture/lane.ts'
import { countBacklog, type LaneCount, type PoolCount } from '#shared/db/count-backlog.ts'
import { backlogCodec, type BacklogMessage } from '#shared/queue/messages.ts'
import { backlogSubject } from '#shared/queue/subjects.ts'
import type { Ledger } from './context.ts'
import type { Predictor } from './predict-arrivals.ts'

const rounded = ({ pending, processing, oldestMs }: LaneCount) => ({
  pending,
  processing,
  oldestMs: Math.round(oldestMs),
})

/** The backlog of each pool, with what is predicted. */
export const toBacklog = (counts: readonly PoolCount[], predictionFor: Predictor['predictionFor']): BacklogMessage[] =>
  counts.map((count) => {
    const { intoMinuteMs, lanes: predicted = {} } = predictionFor(count.pool) ?? {}
    return {
      pool: count.pool,
      ...rounded(count),
      lanes: byLane((lane) => ({
        ...rounded(count.lanes[lane]),
        accepted: count.lanes[lane].accepted,
        ...(predicted[lane] && { predicted: predicted[lane] }),
      })),
      ...(intoMinuteMs !== undefined && { intoMinuteMs }),
    }
  })

/** Whether captures are open or expected. */
const hasWork = ({ pending, processing, intoMinuteMs }: BacklogMessage): boolean =>
  pending + processing > 0 || intoMinuteMs !== undefined

/**
 * Each call of the returned function counts the backlog and publishes it for the controller, with the time until the next count.
 * Publishes nothing if the count throws: unknown is not zero, and the ledger is not idle then.
 */
export const createBacklog = (
  { database, queue, events, rest }: Pick<Ledger, 'database' | 'queue' | 'events' | 'rest'>,
  { predictionFor }: Pick<Predictor, 'predictionFor'>,
  idleMs: number,
) => {
  return async (): Promise<void> => {
    const counts = await countBacklog(database).catch((error: unknown) => {
      rest.markBusy()
      throw error
    })
    events.counted(counts)
    const messages = toBacklog(counts, predictionFor)
    if (messages.some(hasWork)) rest.markBusy()
    const nextMs = rest.longest(idleMs)
    for (const message of messages)
      queue.publish(backlogSubject(message.pool), backlogCodec.encode({ ...message, nextMs }))
  }
}

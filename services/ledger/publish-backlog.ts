import { byLane } from '#shared/capture/lane.ts'
import { countBacklog, type LaneCount, type PoolCount } from '#shared/db/count-backlog.ts'
import { backlogCodec, type BacklogMessage } from '#shared/queue/messages.ts'
import { backlogSubject } from '#shared/queue/subjects.ts'
import type { Ledger } from './context.ts'
import type { Predictor } from './predict-arrivals.ts'

const spanMs = 10_000

/** Counts of all pools at one moment of a monotonic clock. */
export type Reading = { readonly atMs: number; readonly counts: readonly PoolCount[] }

/** The readings over which arrivals are counted: the new one, the one before, and those of the last ten seconds. */
export const appendReading = (readings: readonly Reading[], reading: Reading): Reading[] => [
  ...readings.filter((each, index) => index === readings.length - 1 || reading.atMs - each.atMs <= spanMs),
  reading,
]

const rounded = ({ pending, processing, accepted, oldestMs }: LaneCount) => ({
  pending,
  processing,
  oldestMs: Math.round(oldestMs),
  accepted,
})

/**
 * Backlog of the newest reading, with the arrivals since the oldest, scaled to ten seconds. Empty before the second reading,
 * because arrivals are then unknown.
 */
export const toBacklog = (
  readings: readonly Reading[],
  predictionFor: Predictor['predictionFor'],
): BacklogMessage[] => {
  const [oldest] = readings
  const newest = readings.at(-1)
  if (!oldest || !newest || newest.atMs <= oldest.atMs) return []
  const scale = spanMs / (newest.atMs - oldest.atMs)
  return newest.counts.map((count) => {
    const { accepted = count.accepted } = oldest.counts.find(({ pool }) => pool === count.pool) ?? {}
    const { intoMinuteMs, lanes: predicted = {} } = predictionFor(count.pool) ?? {}
    return {
      pool: count.pool,
      ...rounded(count),
      arrivals10s: Math.max(0, Math.round((count.accepted - accepted) * scale)),
      lanes: byLane((lane) => ({
        ...rounded(count.lanes[lane]),
        ...(predicted[lane] && { predicted: predicted[lane] }),
      })),
      ...(intoMinuteMs !== undefined && { intoMinuteMs }),
    }
  })
}

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
  let readings: Reading[] = []
  return async (): Promise<void> => {
    const counts = await countBacklog(database).catch((error: unknown) => {
      rest.markBusy()
      throw error
    })
    events.counted(counts)
    readings = appendReading(readings, { atMs: performance.now(), counts })
    const messages = toBacklog(readings, predictionFor)
    if (messages.some(hasWork)) rest.markBusy()
    const nextMs = rest.longest(idleMs)
    for (const message of messages)
      queue.publish(backlogSubject(message.pool), backlogCodec.encode({ ...message, nextMs }))
  }
}

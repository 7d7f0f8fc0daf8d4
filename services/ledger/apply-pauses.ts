import { listPauses, type PoolPause, recordApplied, removeEndedPauses } from '#shared/db/pool-pauses.ts'
import { pausePools, reportPositions } from '#shared/queue/streams.ts'
import type { Ledger } from './context.ts'

const keyOf = ({ pool, since }: PoolPause) => `${pool} ${since}`

/**
 * Creates the loop's turn, which pauses and resumes the consumers of the queue as the rows say: NATS then holds captures back from
 * all workers, whichever services restart. A pause counts as applied once the reports of before have been read: until then the
 * meters do not contain all captures that run.
 */
export const createPauseKeeper = ({
  database,
  queue,
  events,
}: Pick<Ledger, 'database' | 'queue' | 'events'>): (() => Promise<void>) => {
  /** Sequence of the newest report when the consumers were paused, by pause. */
  let newestAt = new Map<string, number>()
  return async () => {
    await removeEndedPauses(database)
    const pauses = await listPauses(database)
    const paused = await pausePools(queue, pauses, () => listPauses(database))
    const pausing = pauses.filter(({ pool, state }) => state === 'pausing' && paused.includes(pool))
    if (pausing.length > 0) {
      const { newest, read } = await reportPositions(queue)
      // The sequence only decreases if the stream was lost.
      const targetOf = (pause: PoolPause) => Math.min(newestAt.get(keyOf(pause)) ?? newest, newest)
      newestAt = new Map(pausing.map((pause) => [keyOf(pause), targetOf(pause)]))
      for (const pause of pausing.filter((each) => read >= targetOf(each))) {
        await recordApplied(database, pause)
        events.poolPaused(pause)
      }
    }
    events.pausesRead(pauses)
  }
}

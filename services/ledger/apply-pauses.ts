import { listPauses, recordApplied, removeEndedPauses } from '#shared/db/pool-pauses.ts'
import { pausePools } from '#shared/queue/streams.ts'
import type { Ledger } from './context.ts'

/** Pauses and resumes the consumers of the queue as the rows say: NATS then holds captures back from all workers, whichever services restart. */
export const applyPauses = async ({
  database,
  queue,
  events,
}: Pick<Ledger, 'database' | 'queue' | 'events'>): Promise<void> => {
  await removeEndedPauses(database)
  const pauses = await listPauses(database)
  await pausePools(queue, pauses)
  for (const pause of pauses.filter(({ state }) => state === 'pausing')) await recordApplied(database, pause)
  events.pausesApplied(pauses)
}

import { requeueLost } from '#shared/db/requeue-captures.ts'
import { declareStreams, streamsExist, unreadReports } from '#shared/queue/streams.ts'
import type { Ledger } from './context.ts'

type Dependencies = Pick<Ledger, 'database' | 'queue' | 'events' | 'relayBell'>

const batchCaptures = 5000
const batchesMax = 1000

const putBack = async ({ database, events }: Dependencies) => {
  let captures = 0
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const put = await requeueLost(database, batchCaptures)
    captures += put
    if (put < batchCaptures) break
  }
  if (captures > 0) events.captureLost(captures)
}

/** Makes the streams where they are missing. What they held is put back first, so that a crash in between loses nothing. */
const makeMissing = async (ledger: Dependencies): Promise<boolean> => {
  if (await streamsExist(ledger.queue)) return false
  ledger.events.streamsMissing()
  await putBack(ledger)
  await declareStreams(ledger.queue)
  ledger.relayBell.ring()
  return true
}

/** Makes or repairs streams and consumers, once at the ledger's start. */
export const setUpStreams = async (ledger: Dependencies): Promise<void> => {
  if (!(await makeMissing(ledger))) await declareStreams(ledger.queue)
}

/** Makes the streams again where the queue has lost them, and tells how many reports wait. */
export const keepStreams = async (ledger: Dependencies): Promise<void> => {
  await makeMissing(ledger)
  ledger.events.reportsUnread(await unreadReports(ledger.queue))
}

import { requeueLost } from '#shared/db/requeue-captures.ts'
import {
  consumersExist,
  declareStreams,
  maxPayloadOf,
  streamsExist,
  unreadPart,
  unreadReports,
} from '#shared/queue/streams.ts'
import { maxMessageBytes } from '#shared/queue/topology.ts'
import type { Ledger } from './context.ts'

type Dependencies = Pick<Ledger, 'database' | 'queue' | 'events' | 'relayBell' | 'resultsMaxBytes' | 'streamReplicas'>

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

const declare = ({ queue, resultsMaxBytes: maxBytes, streamReplicas: replicas }: Dependencies) =>
  declareStreams(queue, { maxBytes, replicas })

/**
 * Makes streams and consumers where any is missing. What streams held is put back first, so that a crash in between loses
 * nothing; where only consumers are gone, as when making them was cut short, the streams hold what they held.
 */
const makeMissing = async (ledger: Dependencies): Promise<boolean> => {
  if (!(await streamsExist(ledger.queue))) {
    ledger.events.streamsMissing()
    await putBack(ledger)
  } else {
    if (await consumersExist(ledger.queue)) return false
    ledger.events.consumersMissing()
  }
  await declare(ledger)
  ledger.relayBell.ring()
  return true
}

/** Makes or repairs streams and consumers, once at the ledger's start, and tells where the server will refuse what captures may need. */
export const setUpStreams = async (ledger: Dependencies): Promise<void> => {
  if (!(await makeMissing(ledger))) await declare(ledger)
  const maxPayload = maxPayloadOf(ledger.queue)
  if (maxPayload < maxMessageBytes) ledger.events.maxPayloadTooSmall(maxPayload)
}

/** Makes streams and consumers again where the queue has lost them, and tells how many reports wait, and how much of their stream these fill. */
export const keepStreams = async (ledger: Dependencies): Promise<void> => {
  await makeMissing(ledger)
  const unread = await unreadReports(ledger.queue)
  ledger.events.reportsUnread(unread, unread === 0 ? 0 : await unreadPart(ledger.queue, unread))
}

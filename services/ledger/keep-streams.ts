import { requeueLost } from './db/requeue-captures.ts'
import {
  consumersExist,
  declareStreams,
  lacksCopies,
  maxPayloadOf,
  readStreams,
  type StreamState,
  unreadPart,
  unreadReports,
} from '#shared/queue/streams.ts'
import { maxMessageBytes } from '#shared/queue/topology.ts'
import type { Ledger } from './context.ts'

type Dependencies = Pick<Ledger, 'database' | 'queue' | 'events' | 'relayBell' | 'resultsMaxBytes' | 'streamReplicas'>

const batchCaptures = 5000
const batchesMax = 1000
/** A cluster that has too few servers for the copies that are wanted is asked for them this often. */
const copiesEveryMs = 60_000

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

/** Whether a stream has lost messages since it was seen: a server of a cluster that lost its disk gets the stream back, empty. */
const wentBack = (streams: readonly StreamState[], seen: readonly StreamState[]): boolean =>
  streams.some(({ name, lastSequence }) => seen.some((each) => each.name === name && each.lastSequence > lastSequence))

/**
 * Makes streams and consumers where any is missing. What streams held is put back first, so that a crash in between loses
 * nothing; where only consumers are gone, as when making them was cut short, the streams hold what they held. Resolves to
 * whether anything was missing.
 */
const mend = async (ledger: Dependencies, streams: readonly StreamState[], seen: readonly StreamState[]) => {
  const areMissing = streams.length < 2
  if (areMissing || wentBack(streams, seen)) {
    ledger.events[areMissing ? 'streamsMissing' : 'streamsLostMessages']()
    await putBack(ledger)
  } else if (await consumersExist(ledger.queue)) return false
  else ledger.events.consumersMissing()
  await declare(ledger)
  ledger.relayBell.ring()
  return true
}

/** Makes or repairs streams and consumers, once at the ledger's start, and tells where the server will refuse what captures may need. */
export const setUpStreams = async (ledger: Dependencies): Promise<void> => {
  if (!(await mend(ledger, await readStreams(ledger.queue), []))) await declare(ledger)
  const maxPayload = maxPayloadOf(ledger.queue)
  if (maxPayload < maxMessageBytes) ledger.events.maxPayloadTooSmall(maxPayload)
}

/**
 * Makes what mends streams and consumers where the queue has lost them, or what they held, since its call before, and tells
 * how many reports wait, and how much of their stream these fill.
 */
export const createStreamKeeper = (ledger: Dependencies): (() => Promise<void>) => {
  const { queue, streamReplicas } = ledger
  let seen: readonly StreamState[] = []
  let copiesMs = performance.now()
  return async () => {
    const streams = await readStreams(queue)
    await mend(ledger, streams, seen)
    seen = streams
    if (lacksCopies(queue, streams, streamReplicas) && performance.now() - copiesMs >= copiesEveryMs) {
      copiesMs = performance.now()
      await declare(ledger)
    }
    const unread = await unreadReports(ledger.queue)
    ledger.events.reportsUnread(unread, unread === 0 ? 0 : await unreadPart(ledger.queue, unread))
  }
}

import { requeueCaptures, requeueLost } from './db/requeue-captures.ts'
import {
  consumersExist,
  declareStreams,
  deleteMessage,
  findUndeliverable,
  lacksCopies,
  serverMaxPayload,
  readStreams,
  type StreamState,
  unreadShare,
  unreadReports,
} from '#shared/queue/streams.ts'
import { listPauses } from '#shared/db/pool-pauses.ts'
import { capturesStream, maxMessageBytes } from '#shared/queue/topology.ts'
import type { Wakeup } from '#shared/process/wakeup.ts'
import type { Ledger } from './context.ts'
import { republishUnstarted } from './reaper.ts'

type Dependencies = Pick<Ledger, 'database' | 'queue' | 'events' | 'relayWakeup' | 'resultsMaxBytes' | 'streamReplicas'>

const batchCaptures = 5000
const batchesMax = 1000
const undeliverableRoundsMax = 1000
/** Period of retries while the cluster has too few servers for the copies. */
const copiesEveryMs = 60_000

const requeue = async ({ database, events }: Dependencies) => {
  let captures = 0
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const put = await requeueLost(database, batchCaptures)
    captures += put
    if (put < batchCaptures) break
  }
  if (captures > 0) events.captureLost(captures)
}

const declare = ({ database, queue, resultsMaxBytes: maxBytes, streamReplicas: replicas }: Dependencies) =>
  declareStreams(queue, { maxBytes, replicas, pauses: () => listPauses(database) })

/** Whether a stream has lost messages since `earlier`: a cluster server that lost its disk restores the stream empty. */
const lostMessages = (streams: readonly StreamState[], earlier: readonly StreamState[]): boolean =>
  streams.some(({ name, lastSequence }) =>
    earlier.some((each) => each.name === name && each.lastSequence > lastSequence),
  )

/**
 * Creates missing streams and consumers. Requeues the captures of missing or emptied streams first, so that a crash in between
 * loses none; if only consumers are missing, as after an interrupted creation, the streams still have their messages. Resolves
 * to whether anything was missing.
 */
const repair = async (ledger: Dependencies, streams: readonly StreamState[], earlier: readonly StreamState[]) => {
  const areMissing = streams.length < 2
  if (areMissing || lostMessages(streams, earlier)) {
    ledger.events[areMissing ? 'streamsMissing' : 'streamsLostMessages']()
    await requeue(ledger)
  } else if (await consumersExist(ledger.queue)) return false
  else ledger.events.consumersMissing()
  await declare(ledger)
  ledger.relayWakeup.notify()
  return true
}

/** Publishes again what NATS has stored and will not deliver. A crash before the requeue leaves it to the reaper. */
const requeueUndeliverable = async ({ database, queue, events, relayWakeup }: Dependencies) => {
  let captures = 0
  for (let round = 0; round < undeliverableRoundsMax; round += 1) {
    const found = await findUndeliverable(queue)
    if (found.length === 0) break
    for (const { sequence } of found) await deleteMessage(queue, capturesStream.name, sequence)
    const ids = found.map(({ id }) => id)
    captures += await requeueCaptures(database, ids)
  }
  if (captures === 0) return
  events.captureLost(captures)
  relayWakeup.notify()
}

/** Creates or repairs streams and consumers at the start, and reports a `max_payload` that is too small for captures. */
export const setUpStreams = async (ledger: Dependencies): Promise<void> => {
  if (!(await repair(ledger, await readStreams(ledger.queue), []))) await declare(ledger)
  const maxPayload = serverMaxPayload(ledger.queue)
  if (maxPayload < maxMessageBytes) ledger.events.maxPayloadTooSmall(maxPayload)
}

/**
 * A turn recreates streams and consumers if they, or their messages, were lost since the previous turn, requeues captures
 * that no consumer will deliver, and reports the number of unread reports and the share of their stream that is filled with
 * them. A reconnect wakes the loop by `wakeup`, and the next turn that finds the streams in order publishes the captures that
 * have not begun again: NATS may have restarted without what it had not synced.
 */
export const createStreamKeeper = (ledger: Dependencies, wakeup: Pick<Wakeup, 'notify'>): (() => Promise<void>) => {
  const { queue, streamReplicas } = ledger
  let lastStreams: readonly StreamState[] = []
  let copiesMs = performance.now()
  let [reconnects, republished] = [0, 0]
  queue.onReconnect(() => {
    reconnects += 1
    wakeup.notify()
  })
  return async () => {
    const since = reconnects
    const streams = await readStreams(queue)
    await repair(ledger, streams, lastStreams)
    lastStreams = streams
    await requeueUndeliverable(ledger)
    // After `repair`, which compares the streams with what they were: new messages conceal that others were lost.
    if (since > republished) await republishUnstarted(ledger, { olderThanMs: 0 })
    republished = since
    if (lacksCopies(queue, streams, streamReplicas) && performance.now() - copiesMs >= copiesEveryMs) {
      copiesMs = performance.now()
      await declare(ledger)
    }
    const unread = await unreadReports(ledger.queue)
    ledger.events.reportsUnread(unread, unread === 0 ? 0 : await unreadShare(ledger.queue, unread))
  }
}

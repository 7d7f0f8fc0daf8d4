import { type CaptureEnd, type ChangedCapture, changeCaptures, type JudgedCapture } from '#shared/db/change-captures.ts'
import { purgeSubject } from '#shared/queue/streams.ts'
import { captureSubject } from '#shared/queue/subjects.ts'
import { capturesStream } from '#shared/queue/topology.ts'
import type { Ledger } from './context.ts'
import { publishCompletion } from './publish-completion.ts'

type Dependencies = Pick<Ledger, 'database' | 'queue' | 'events' | 'relayBell'>

/** How a capture ends that no worker has ended. */
export type FailedEnd = Extract<CaptureEnd, { status: 'failed' }>

/**
 * Judges a capture under its lock: where `mayEnd` says so and an end is given, it fails, and its message is taken out of the
 * queue. Answers the capture where it ended by this.
 */
export const failCapture = async (
  { database, queue, events, relayBell }: Dependencies,
  id: string,
  { end, mayEnd }: { readonly end: FailedEnd | undefined; readonly mayEnd: (capture: JudgedCapture) => boolean },
): Promise<ChangedCapture | undefined> => {
  const judged: { capture?: JudgedCapture } = {}
  const { captures, roomMade } = await changeCaptures(database, [id], (capture) => {
    judged.capture = capture
    const { attempts, unendedStarts } = capture
    return mayEnd(capture) && end ? { change: { attempts, unendedStarts, begins: false, end } } : {}
  })
  if (roomMade) relayBell.ring()
  const ended = captures.filter((capture) => capture.ended)
  for (const capture of ended) publishCompletion(queue, capture)
  // The others follow it: no worker ever sees them.
  const own = ended.find((capture) => capture.id === id)
  if (!own || !end || !judged.capture) return undefined
  events.ended(judged.capture, end)
  await purgeSubject(queue, capturesStream.name, captureSubject(own))
  return own
}

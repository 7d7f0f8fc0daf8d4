import { type CaptureEnd, type ChangedCapture, changeCaptures, type JudgedCapture } from '#shared/db/change-captures.ts'
import { deleteMessages } from '#shared/queue/streams.ts'
import { captureSubject } from '#shared/queue/subjects.ts'
import { capturesStream } from '#shared/queue/topology.ts'
import type { Ledger } from './context.ts'
import { publishCompletion } from './reports/publish-completion.ts'

type Dependencies = Pick<Ledger, 'database' | 'queue' | 'events' | 'relayWakeup'>

/** The failure of a capture that was not reported by a worker. */
export type FailedEnd = Extract<CaptureEnd, { status: 'failed' }>

/**
 * Fails a capture under its lock if `mayEnd` returns true and `end` is given. The same transaction schedules the removal of its
 * messages and objects (`finish-deletions.ts`); its message is also deleted at once, so that no worker takes it. Resolves to
 * the capture if it was failed, else to undefined. `mayEnd` is called without `end` too.
 */
export const failCapture = async (
  { database, queue, events, relayWakeup }: Dependencies,
  id: string,
  { end, mayEnd }: { readonly end: FailedEnd | undefined; readonly mayEnd: (capture: JudgedCapture) => boolean },
): Promise<ChangedCapture | undefined> => {
  const found: { capture?: JudgedCapture } = {}
  const { captures, roomMade } = await changeCaptures(database, [id], (capture) => {
    found.capture = capture
    const { attempts, unendedStarts } = capture
    return mayEnd(capture) && end ? { change: { attempts, unendedStarts, begins: false, end }, withdraws: true } : {}
  })
  if (roomMade) relayWakeup.notify()
  const ended = captures.filter((capture) => capture.ended)
  for (const capture of ended) publishCompletion(queue, capture)
  // The other captures that ended are followers, which have no message.
  const own = ended.find((capture) => capture.id === id)
  if (!own || !end || !found.capture) return undefined
  events.ended(found.capture, end)
  await deleteMessages(queue, capturesStream.name, captureSubject(own)).catch(() => {})
  return own
}

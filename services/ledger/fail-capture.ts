import { type CaptureEnd, type ChangedCapture, changeCaptures, type JudgedCapture } from '#shared/db/change-captures.ts'
import type { Ledger } from './context.ts'
import { publishCompletion } from './publish-completion.ts'

type Dependencies = Pick<Ledger, 'database' | 'queue' | 'events' | 'relayWakeup'>

/** The failure of a capture that was not reported by a worker. */
export type FailedEnd = Extract<CaptureEnd, { status: 'failed' }>

/**
 * Fails a capture under its lock if `mayEnd` returns true and `end` is given. So that no worker takes it, what the queue and
 * the store have of it is then removed, whatever becomes of this process; see `finish-deletions.ts`. Resolves to the capture
 * if it was failed, else to undefined. `mayEnd` is called without `end` too.
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
  return own
}

import type { ChangedCapture } from '#shared/db/change-captures.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { eventCodec } from '#shared/queue/messages.ts'
import { eventSubject } from '#shared/queue/subjects.ts'

/** Tells whoever waits that a capture has ended. Call it after the commit; a capture that goes on is not told of. */
export const tellEnd = (queue: Pick<Queue, 'publish'>, capture: ChangedCapture): void => {
  const { id, status, objectKey } = capture
  if (status !== 'completed' && status !== 'failed') return
  const event = eventCodec.encode({ id, status, ...(objectKey !== null && { objectKey }) })
  queue.publish(eventSubject(capture), event)
}

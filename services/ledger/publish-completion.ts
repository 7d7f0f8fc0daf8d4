import type { ChangedCapture } from '#shared/db/change-captures.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { eventCodec } from '#shared/queue/messages.ts'
import { eventSubject } from '#shared/queue/subjects.ts'

/** Publishes that a capture has ended, to whoever waits for it. Call it after the commit; of a capture that goes on nothing is published. */
export const publishCompletion = (queue: Pick<Queue, 'publish'>, capture: ChangedCapture): void => {
  const { id, status, objectKey } = capture
  if (status !== 'completed' && status !== 'failed') return
  const event = eventCodec.encode({ id, status, ...(objectKey !== null && { objectKey }) })
  queue.publish(eventSubject(capture), event)
}

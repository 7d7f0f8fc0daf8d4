import type { ChangedCapture } from '#shared/db/change-captures.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { eventCodec } from '#shared/queue/messages.ts'
import { eventSubject } from '#shared/queue/subjects.ts'

/** Publishes the completion of a capture, to be called after its commit; does nothing if the capture has not ended. */
export const publishCompletion = (queue: Pick<Queue, 'publish'>, capture: ChangedCapture): void => {
  const { id, status, objectKey } = capture
  if (status !== 'completed' && status !== 'failed') return
  const event = eventCodec.encode({ id, status, ...(objectKey !== null && { objectKey }) })
  queue.publish(eventSubject(capture), event)
}

import type { Lane, Pool } from '#shared/capture/lane.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import type { Queue } from './connection.ts'
import { startSpan } from '#shared/telemetry/trace.ts'
import { captureCodec } from './messages.ts'
import { publishStored, type Stored } from './stored.ts'
import { captureSubject } from './subjects.ts'

/** A capture to publish to workers. `attempts` have begun so far. */
export type CaptureToPublish = {
  readonly id: string
  readonly pool: Pool
  readonly lane: Lane
  readonly accountId: string
  readonly budgetMs: number
  readonly attempts: number
  readonly sealed: Buffer
  readonly traceparent?: string | null | undefined
}

/** Publishes a capture to the queue; changes nothing if its message is stored already. Throws within five seconds, as `publishStored`. */
export const publishCapture = async (queue: Queue, capture: CaptureToPublish): Promise<Stored> => {
  const { id, pool, budgetMs, attempts, sealed, traceparent } = capture
  const message = captureCodec.encode({ id, pool, budgetMs, attempts, sealed: sealed.toString('base64') })
  const attributes = { 'messaging.system': 'nats', 'shutterfleet.capture.id': id, 'shutterfleet.queue': pool }
  const span = startSpan({ name: 'publish', traceparent, kind: 'PRODUCER', attributes })
  try {
    const stored = await publishStored(queue, captureSubject(capture), message, traceparent ? { traceparent } : {})
    span.end()
    return stored
  } catch (error) {
    span.end({ error: toAppError(error).code })
    throw error
  }
}

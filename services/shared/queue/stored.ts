import { jetstream, jetstreamManager, JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream'
import { InvalidArgumentError } from '@nats-io/transport-node'
import { AppError } from '#shared/errors/app-error.ts'
import { traceHeaders, type Queue } from './connection.ts'

const publishTimeoutMs = 5000
const readTimeoutMs = 2000
/** JetStream's error code of "maximum messages per subject exceeded". */
const messageStands = 10_077
/** The same where the message was to be the first of its subject: `StreamWrongLastSequence`. */
const notTheFirst = 10_071

/** Whether a message was stored now, or one of the same subject stands already. */
export type Stored = 'stored' | 'stands'

/**
 * Publishes to the stored part of the queue. A refusal because a message of this subject stands is an answer, not an error.
 * Throws `CONFIGURATION` where the server takes no message as large as this; everything else throws `SERVICE_UNAVAILABLE`
 * after at most five seconds and means "unknown". `first`: only where the stream has no message of the subject.
 */
export const publishStored = async (
  queue: Queue,
  subject: string,
  data: Uint8Array,
  { traceparent, first = false }: { readonly traceparent?: string | undefined; readonly first?: boolean } = {},
): Promise<Stored> => {
  const headers = traceHeaders(traceparent)
  try {
    await jetstream(queue.connection).publish(subject, data, {
      timeout: publishTimeoutMs,
      ...(headers && { headers }),
      ...(first && { expect: { lastSubjectSequence: 0 } }),
    })
    return 'stored'
  } catch (cause) {
    if (cause instanceof JetStreamApiError && [messageStands, notTheFirst].includes(cause.code)) return 'stands'
    if (cause instanceof InvalidArgumentError) {
      const message = `publish ${subject}: ${data.length} bytes are more than max_payload of the NATS server allows`
      throw new AppError('CONFIGURATION', { message, cause })
    }
    throw new AppError('SERVICE_UNAVAILABLE', { message: `publish ${subject}: ${String(cause)}`, cause })
  }
}

/** The newest stored message of an exact subject, or undefined where there is none. Throws `SERVICE_UNAVAILABLE` after two seconds. */
export const lastMessage = async (queue: Pick<Queue, 'request'>, stream: string, subject: string) => {
  const answer = await queue.request(`$JS.API.DIRECT.GET.${stream}.${subject}`, new Uint8Array(), readTimeoutMs)
  if (answer.statusCode === 404) return undefined
  if (answer.statusCode >= 400) {
    throw new AppError('SERVICE_UNAVAILABLE', { message: `direct get ${subject}: status ${answer.statusCode}` })
  }
  return {
    data: answer.data,
    /** Its number in the stream, from 1. */
    sequence: Number(answer.header('Nats-Sequence')),
    /** When it was stored, by the server's clock, in milliseconds since 1970. */
    storedAtMs: Date.parse(answer.header('Nats-Time-Stamp') ?? ''),
  }
}

/** Opens JetStream's management interface; only `shared/queue` uses it. Whether JetStream is there, the request itself shows. */
export const manage = (queue: Queue): Promise<JetStreamManager> =>
  jetstreamManager(queue.connection, { timeout: 5000, checkAPI: false })
